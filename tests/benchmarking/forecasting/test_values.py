"""Forecasts of made-up canaries to two thousandths: a change of a prior, a law or a threshold shows here.

Whoever means to change the model runs tests/performance/forecast_accuracy.py before and after, and writes the new values down.
"""

import dataclasses

import pytest

from benchmarking.forecasting import Question, forecast
from benchmarking.forecasting.model.billing import Billing
from benchmarking.forecasting.model.priors import FAMILIES
from tests.benchmarking.forecasting.canary_tables import canaries, metric, table

GIB = 1024**3
QUESTION = Question(Billing("us-east-1"))


def clocks(**known):
    """Canaries with processor time by phase."""
    return [
        dataclasses.replace(one, cpu_s=0.9 * one.total_s, about={"startup_cpu_s": 0.8 * one.startup_s, "train_cpu_s": 0.95 * one.train_s})
        for one in canaries(**known)
    ]


def loaded():
    """Canaries of a machine that others use as well: by the clock every second one takes half as long again."""
    return [
        dataclasses.replace(one, startup_s=k * one.startup_s, train_s=k * one.train_s, total_s=k * one.total_s)
        for one, k in zip(clocks(ladder={0.01: 2, 0.1: 2}), (1.0, 1.5, 1.5, 1.0), strict=True)
    ]


CASES = {
    "phases": canaries(),
    "totals": canaries(timed=False),
    "noisy": canaries(noise=0.15),
    "short": canaries(full_s=2.0),
    "square": canaries(exponent=2.0, full_s=40_000.0),
    "one level": canaries(ladder={0.03: 3}),
    "steps": [dataclasses.replace(one, steps=round(1e5 * one.fraction)) for one in canaries(ladder={0.01: 2, 0.03: 2})],
    "all phases": [
        dataclasses.replace(one, load_s=200 * one.fraction, checkpoint_s=3.0, total_s=one.total_s + 210 * one.fraction + 9)
        for one in canaries()
    ],
    "clocks": clocks(),
    "loaded": loaded(),
    "cpu total": [dataclasses.replace(one, about={}) for one in clocks(noise=0.05)],
    **{f"family {name}": canaries(ladder={0.01: 1, 0.03: 1}, family=name) for name in FAMILIES if name},
    "flat memory": canaries(rss=lambda f: (1 + 0.1 * f) * GIB),
    "growing memory": canaries(rss=lambda f: (1 + 20 * f) * GIB),
    "rising memory": canaries(rss=lambda f: (1 + max(0.0, 20 * (f - 0.02))) * GIB),
    **{
        f"memory {name}": canaries(family=name, rss=lambda f: (1 + 2 * f + 5 * f * f) * GIB)
        for name in ("kernel", "neighbours", "gaussian_process", "constant", "epochs")
    },
    "gpu": canaries(gpu_bytes=3.3 * GIB, gpu_util=70.0, cpu_util=0.6),
}


# Case and metric: median, lower and upper end of the 80 % interval, upper end of the 90 % interval.
VALUES = {
    ("phases", "total_s"): (986.77, 876.97, 1094.4, 1134.6),
    ("phases", "train_s"): (965.88, 856.51, 1074.1, 1114.7),
    ("totals", "total_s"): (1049.7, 846.79, 1282.4, 1358.3),
    ("noisy", "total_s"): (857.35, 558.45, 1189.6, 1307.3),
    ("noisy", "train_s"): (808.83, 512.24, 1130.4, 1253.3),
    ("short", "total_s"): (22.654, 20.89, 25.951, 29.564),
    ("short", "train_s"): (2.0954, 1.3644, 4.2886, 8.1877),
    ("square", "total_s"): (35816.0, 30834.0, 42251.0, 44960.0),
    ("square", "train_s"): (35797.0, 30813.0, 42231.0, 44940.0),
    ("one level", "total_s"): (1091.3, 814.29, 2185.1, 11987.0),
    ("one level", "train_s"): (1053.2, 779.75, 2064.2, 11584.0),
    ("steps", "total_s"): (976.95, 840.21, 1132.2, 1182.9),
    ("steps", "train_s"): (956.95, 818.94, 1111.4, 1160.3),
    ("all phases", "total_s"): (1198.7, 1095.5, 1309.3, 1345.7),
    ("all phases", "train_s"): (964.44, 861.81, 1074.0, 1109.6),
    ("clocks", "total_s"): (986.77, 876.97, 1094.4, 1134.6),
    ("clocks", "train_s"): (965.88, 856.51, 1074.1, 1114.7),
    ("clocks", "cpu_s"): (932.0, 835.97, 1037.2, 1082.8),
    ("loaded", "total_s"): (1235.4, 956.5, 1595.2, 1752.0),
    ("loaded", "train_s"): (1210.6, 936.93, 1563.3, 1717.3),
    ("loaded", "cpu_s"): (948.55, 853.35, 1057.9, 1100.6),
    ("cpu total", "total_s"): (957.96, 823.72, 1095.4, 1146.1),
    ("cpu total", "train_s"): (936.64, 803.77, 1073.4, 1124.1),
    ("cpu total", "cpu_s"): (873.39, 730.07, 1040.8, 1109.6),
    ("family constant", "total_s"): (877.4, 549.88, 1250.8, 1398.5),
    ("family constant", "train_s"): (857.29, 530.61, 1229.5, 1378.8),
    ("family epochs", "total_s"): (1038.7, 888.31, 1201.5, 1265.1),
    ("family epochs", "train_s"): (1019.4, 868.72, 1181.8, 1244.3),
    ("family linear", "total_s"): (1039.8, 884.57, 1204.4, 1270.9),
    ("family linear", "train_s"): (1020.0, 865.09, 1185.3, 1251.9),
    ("family trees", "total_s"): (1039.6, 814.19, 1328.9, 1461.6),
    ("family trees", "train_s"): (1019.3, 794.11, 1311.8, 1442.3),
    ("family sort", "total_s"): (1284.8, 1003.7, 1616.6, 1724.3),
    ("family sort", "train_s"): (1264.6, 983.77, 1597.5, 1703.8),
    ("family iterative", "total_s"): (1035.3, 790.61, 1364.6, 1495.4),
    ("family iterative", "train_s"): (1015.7, 770.4, 1345.0, 1475.4),
    ("family clustering", "total_s"): (1035.3, 790.61, 1364.6, 1495.4),
    ("family clustering", "train_s"): (1015.7, 770.4, 1345.0, 1475.4),
    ("family neighbours", "total_s"): (1418.0, 868.78, 24556.0, 29966.0),
    ("family neighbours", "train_s"): (1398.3, 848.28, 24536.0, 29948.0),
    ("family kernel", "total_s"): (2375.3, 925.33, 32743.0, 42897.0),
    ("family kernel", "train_s"): (2355.9, 904.82, 32723.0, 42877.0),
    ("family gaussian_process", "total_s"): (360790.0, 19576.0, 727720.0, 789460.0),
    ("family gaussian_process", "train_s"): (360770.0, 19557.0, 727700.0, 789440.0),
    ("flat memory", "total_s"): (1028.3, 941.21, 1121.9, 1161.7),
    ("flat memory", "train_s"): (1008.4, 921.17, 1101.7, 1142.4),
    ("flat memory", "rss_bytes"): (1.0497, 0.98999, 1.2405, 2.57),
    ("growing memory", "total_s"): (1028.3, 941.21, 1121.9, 1161.7),
    ("growing memory", "train_s"): (1008.4, 921.17, 1101.7, 1142.4),
    ("growing memory", "rss_bytes"): (22.312, 18.075, 27.183, 28.569),
    ("rising memory", "total_s"): (1028.3, 941.21, 1121.9, 1161.7),
    ("rising memory", "train_s"): (1008.4, 921.17, 1101.7, 1142.4),
    ("rising memory", "rss_bytes"): (24.851, 18.95, 169.69, 175.04),
    ("memory kernel", "total_s"): (1038.5, 903.57, 1211.3, 1289.1),
    ("memory kernel", "train_s"): (1018.9, 884.14, 1191.1, 1267.7),
    ("memory kernel", "rss_bytes"): (3.9203, 3.2188, 6.1348, 7.6661),
    ("memory neighbours", "total_s"): (1036.8, 902.31, 1209.2, 1280.6),
    ("memory neighbours", "train_s"): (1016.9, 882.26, 1188.9, 1260.3),
    ("memory neighbours", "rss_bytes"): (3.8033, 3.2102, 5.2561, 6.5188),
    ("memory gaussian_process", "total_s"): (1050.8, 911.2, 1236.6, 1325.0),
    ("memory gaussian_process", "train_s"): (1030.5, 891.77, 1216.9, 1304.8),
    ("memory gaussian_process", "rss_bytes"): (4.2521, 3.4555, 7.335, 9.0642),
    ("memory constant", "total_s"): (1001.0, 875.73, 1147.9, 1198.2),
    ("memory constant", "train_s"): (980.59, 855.97, 1128.4, 1178.6),
    ("memory constant", "rss_bytes"): (1.205, 1.0198, 1.4941, 1.6111),
    ("memory epochs", "total_s"): (1019.5, 918.9, 1124.9, 1164.1),
    ("memory epochs", "train_s"): (999.52, 898.75, 1105.0, 1143.5),
    ("memory epochs", "rss_bytes"): (3.5118, 3.0464, 4.1126, 4.3335),
    ("gpu", "total_s"): (986.77, 876.97, 1094.4, 1134.6),
    ("gpu", "train_s"): (965.88, 856.51, 1074.1, 1114.7),
    ("gpu", "gpu_bytes"): (3.3027, 3.2578, 3.3477, 3.3672),
    ("gpu", "cpu_util"): (0.60131, 0.55782, 0.64453, 0.6595),
    ("gpu", "gpu_util"): (70.061, 65.953, 74.453, 75.969),
}  # fmt: skip


def short_of(name, found):
    """Return the four values in units that are easy to read."""
    scale = GIB if name.endswith("_bytes") else 1
    return tuple(value / scale for value in (found.median, found.lo80, found.hi80, found.hi90))


@pytest.mark.parametrize("case", CASES)
def test_the_values_of_a_case(case):
    found = {one.metric: short_of(one.metric, one) for one in forecast(table(CASES[case]), QUESTION) if one.median is not None}
    expected = {name: values for (of, name), values in VALUES.items() if of == case}
    assert found.keys() == expected.keys()
    for name, values in expected.items():
        assert found[name] == pytest.approx(values, rel=2e-3), name


def test_the_cases_together_are_configurations_of_one_code():
    few = {0.01: 1, 0.03: 1}
    groups = [canaries(f"c{k}", ladder=few, exponent=1.1, noise=0.02, seed=k, full_s=1000.0 * (1 + k)) for k in range(4)]
    found = metric(forecast(table(*groups), QUESTION), "total_s", "c0")
    assert short_of("total_s", found) == pytest.approx((934.5, 717.36, 1183.6, 1256.2), rel=1e-3)
