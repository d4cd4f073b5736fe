"""Forecasts of made-up canaries to two thousandths: a change of a prior, a law or a threshold shows here.

Whoever means to change the model runs tests/performance/forecast_accuracy.py before and after, and writes the new values down.
"""

import dataclasses

import pytest

from benchmarking.forecasting.forecast import forecast
from benchmarking.forecasting.model.billing import Billing
from benchmarking.forecasting.model.draws import Question
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
    ("phases", "total_s"): (982.92, 845.32, 1140.2, 1196.0),
    ("phases", "train_s"): (962.25, 824.95, 1119.4, 1175.5),
    ("totals", "total_s"): (1047.5, 826.78, 1318.8, 1399.1),
    ("noisy", "total_s"): (851.97, 558.67, 1205.6, 1332.9),
    ("noisy", "train_s"): (803.21, 511.12, 1150.6, 1284.9),
    ("short", "total_s"): (22.651, 20.882, 25.986, 29.564),
    ("short", "train_s"): (2.1005, 1.3467, 4.3288, 8.1877),
    ("square", "total_s"): (35729.0, 29799.0, 43469.0, 46355.0),
    ("square", "train_s"): (35707.0, 29782.0, 43449.0, 46335.0),
    ("one level", "total_s"): (1102.9, 783.32, 2179.5, 11542.0),
    ("one level", "train_s"): (1064.9, 748.33, 2073.5, 11522.0),
    ("steps", "total_s"): (973.97, 810.28, 1167.2, 1228.2),
    ("steps", "train_s"): (953.38, 790.38, 1146.1, 1206.6),
    ("all phases", "total_s"): (1199.4, 1058.0, 1357.4, 1407.7),
    ("all phases", "train_s"): (962.64, 820.94, 1122.5, 1170.1),
    ("clocks", "total_s"): (982.92, 845.32, 1140.2, 1196.0),
    ("clocks", "train_s"): (962.25, 824.95, 1119.4, 1175.5),
    ("clocks", "cpu_s"): (933.76, 802.45, 1087.0, 1136.8),
    ("loaded", "total_s"): (1234.8, 936.01, 1632.5, 1782.4),
    ("loaded", "train_s"): (1210.0, 916.43, 1600.6, 1747.7),
    ("loaded", "cpu_s"): (949.44, 817.71, 1103.2, 1163.5),
    ("cpu total", "total_s"): (956.16, 791.61, 1134.4, 1197.3),
    ("cpu total", "train_s"): (934.68, 770.63, 1113.5, 1174.5),
    ("cpu total", "cpu_s"): (873.6, 709.58, 1070.9, 1157.4),
    ("family constant", "total_s"): (1066.5, 881.24, 1347.9, 1490.1),
    ("family constant", "train_s"): (1046.1, 861.65, 1327.4, 1471),
    ("family epochs", "total_s"): (1050.2, 871.07, 1279.6, 1371.6),
    ("family epochs", "train_s"): (1030, 850.94, 1260, 1350),
    ("family linear", "total_s"): (1049.2, 868.84, 1288.8, 1377.2),
    ("family linear", "train_s"): (1029.7, 849.17, 1267.8, 1358),
    ("family trees", "total_s"): (1055.6, 838.97, 1348.3, 1487.5),
    ("family trees", "train_s"): (1035.1, 818.02, 1328.4, 1468.1),
    ("family sort", "total_s"): (1139.1, 905.06, 1524.8, 1657),
    ("family sort", "train_s"): (1118.6, 885.23, 1504.2, 1633.3),
    ("family iterative", "total_s"): (1055.9, 828.38, 1381.7, 1493.5),
    ("family iterative", "train_s"): (1036, 808.63, 1362.2, 1475),
    ("family clustering", "total_s"): (1055.9, 828.38, 1381.7, 1493.5),
    ("family clustering", "train_s"): (1036, 808.63, 1362.2, 1475),
    ("family neighbours", "total_s"): (1067.7, 882.89, 1372.4, 1516.5),
    ("family neighbours", "train_s"): (1047.4, 864.18, 1352.6, 1499.4),
    ("family kernel", "total_s"): (1067.7, 882.24, 1366.9, 1501.6),
    ("family kernel", "train_s"): (1047.4, 863.78, 1343.1, 1483),
    ("family gaussian_process", "total_s"): (1067.2, 882.24, 1356.3, 1490.8),
    ("family gaussian_process", "train_s"): (1046.6, 863.78, 1336.9, 1471.2),
    ("flat memory", "total_s"): (1027.7, 900.47, 1177.0, 1226.2),
    ("flat memory", "train_s"): (1007.5, 880.65, 1157.3, 1206.3),
    ("flat memory", "rss_bytes"): (1.12, 0.98358, 1.2708, 1.3381),
    ("growing memory", "total_s"): (1027.7, 900.47, 1177.0, 1226.2),
    ("growing memory", "train_s"): (1007.5, 880.65, 1157.3, 1206.3),
    ("growing memory", "rss_bytes"): (21.08, 7.2761, 34.425, 38.019),
    ("rising memory", "total_s"): (1027.7, 900.47, 1177.0, 1226.2),
    ("rising memory", "train_s"): (1007.5, 880.65, 1157.3, 1206.3),
    ("rising memory", "rss_bytes"): (20.626, 6.8843, 33.911, 37.489),
    ("memory kernel", "total_s"): (1027.7, 899.97, 1176.9, 1226.2),
    ("memory kernel", "train_s"): (1007.5, 880.6, 1156.8, 1206.3),
    ("memory kernel", "rss_bytes"): (3.9496, 2.0043, 6.4003, 7.5953),
    ("memory neighbours", "total_s"): (1027.6, 899.97, 1177.5, 1228.7),
    ("memory neighbours", "train_s"): (1007.4, 880.6, 1158.2, 1209.4),
    ("memory neighbours", "rss_bytes"): (3.8337, 1.9174, 5.9555, 6.945),
    ("memory gaussian_process", "total_s"): (1027.7, 900.47, 1177, 1226.2),
    ("memory gaussian_process", "train_s"): (1007.5, 880.65, 1157.3, 1206.3),
    ("memory gaussian_process", "rss_bytes"): (4.2369, 2.1761, 7.2799, 8.8699),
    ("memory constant", "total_s"): (1027.7, 899.84, 1177, 1225.6),
    ("memory constant", "train_s"): (1007.5, 880.39, 1157.3, 1206),
    ("memory constant", "rss_bytes"): (3.6087, 1.7618, 5.3942, 5.8751),
    ("memory epochs", "total_s"): (1020.5, 891.76, 1177.6, 1229.8),
    ("memory epochs", "train_s"): (1000.4, 871.57, 1158.7, 1209.6),
    ("memory epochs", "rss_bytes"): (3.6087, 1.7618, 5.3942, 5.8751),
    ("gpu", "total_s"): (982.92, 845.32, 1140.2, 1196.0),
    ("gpu", "train_s"): (962.25, 824.95, 1119.4, 1175.5),
    ("gpu", "gpu_bytes"): (3.3027, 3.2578, 3.3477, 3.3672),
    ("gpu", "cpu_util"): (0.6013, 0.5578, 0.64456, 0.65948),
    ("gpu", "gpu_util"): (70.058, 65.963, 74.452, 75.957),
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
    assert short_of("total_s", found) == pytest.approx((935.3, 705.31, 1202.3, 1298.2), rel=1e-3)
