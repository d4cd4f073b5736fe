"""`--set key=value`: how it is read and what it means for each kind of key."""

from pathlib import Path

import pytest

from backends.local.description import LocalBlock
from backends.sagemaker.block import SageMakerBlock
from definitions.errors import UserError
from definitions.resolve import resolve, resolve_python
from definitions.settings import parse_setting
from definitions.yaml_source import parse_yaml

SPACE = """\
name: demo
script: train.py
arguments: {epochs: 1, amp: true}
space:
  batch_size: {choice: [32, 64]}
  rate: {loguniform: [1e-4, 1e-1]}
objectives: {loss: min}
datasets: {photos: {type: images}}
inputs: {train: {}}
fidelity: {kind: per_job, argument: fraction}
methods: {M: {base: ASHA, brackets: 3}}
"""
TRIALS = """\
name: demo
script: train.py
arguments: {epochs: 1}
base_trial: {batch_size: 32, mode: file}
trials: [{dataset: a}, {dataset: b}, {dataset: b, mode: pipe}]
objectives: {loss: min}
"""


def setting(*settings, text=SPACE, backend="local"):
    return resolve(parse_yaml(text, Path("demo.yaml")), backend, settings, check_files=False).definition


def refused(*settings, text=SPACE, backend="local"):
    with pytest.raises(UserError) as caught:
        setting(*settings, text=text, backend=backend)
    return str(caught.value)


class TestReading:
    @pytest.mark.parametrize(
        ("text", "values"),
        [
            ("k=32", (32,)),
            ("k=32,64", (32, 64)),
            (" k = 1e-3 , true , null , no ", (0.001, True, None, "no")),
            ("k='a,b',c", ("a,b", "c")),
            ('k="1","x\\ty"', ("1", "x\ty")),
            ("k=''", ("",)),
            ("k=it's,fine", ("it's", "fine")),
            ("k=s3://bucket/a:b#c", ("s3://bucket/a:b#c",)),
            ("k=a=b", ("a=b",)),
            ("k=*", ("*",)),
            ("k=2026-11-27", ("2026-11-27",)),
            ('k=[a, "b,c", 3]', ("a", "b,c", 3)),
            ("k=[]", ()),
        ],
    )
    def test_values(self, text, values):
        found = parse_setting(text)
        assert (found.key, found.values, found.domain) == ("k", values, None)

    def test_a_domain(self):
        assert parse_setting("k={loguniform: [1e-4, 1]}").domain == {"loguniform": [0.0001, 1]}

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("k", "--set k: this is not key=value\n  write e.g. --set batch_size=32 or --set batch_size=32,64"),
            ("=3", "--set =3: this is not key=value\n  write e.g. --set batch_size=32 or --set batch_size=32,64"),
            ("k=", "--set k=: a value is empty\n  write '' for an empty text, null for none"),
            ("k=1,", "--set k=1,: a value is empty\n  write '' for an empty text, null for none"),
            ("k='a", "--set k='a: a quote is not closed\n  add ' at the end"),
            ("k=[[1]]", "--set k=[[1]]: a list within a list\n  values are text, numbers, true/false or null"),
        ],
    )
    def test_what_cannot_be_read(self, text, message):
        with pytest.raises(UserError) as caught:
            parse_setting(text)
        assert str(caught.value) == message

    @pytest.mark.parametrize("text", ["k=[1", "k={a", "k='a'b"])
    def test_broken_yaml(self, text):
        with pytest.raises(UserError, match="cannot be read"):
            parse_setting(text)


class TestKeysOfASpace:
    def test_one_value_fixes_a_key(self):
        assert setting("batch_size=128").space["batch_size"] == 128

    def test_several_make_it_a_choice(self):
        assert setting("batch_size=8,16").space["batch_size"] == {"choice": [8, 16]}
        assert list(setting("batch_size=8,16").space) == ["batch_size", "rate"]

    def test_a_domain_may_be_given(self):
        assert setting("batch_size={randint: [8, 64]}").space["batch_size"] == {"randint": [8, 64]}

    def test_with_the_prefix_a_new_key_may_be_added(self):
        assert setting("space.workers=0,2").space["workers"] == {"choice": [0, 2]}

    def test_a_fixed_argument_becomes_searched_by_several_values(self):
        for key in ("epochs", "arguments.epochs"):
            found = setting(f"{key}=1,2")
            assert found.space["epochs"] == {"choice": [1, 2]}
            assert found.arguments == {"amp": True}
        assert setting("epochs={randint: [1, 9]}").space["epochs"] == {"randint": [1, 9]}
        assert setting("space.epochs=5").arguments == {"amp": True}

    def test_a_fixed_argument_gets_one_value(self):
        assert setting("epochs=3").arguments == {"epochs": 3, "amp": True}
        assert setting("arguments.amp=null").arguments == {"epochs": 1, "amp": None}

    def test_a_new_argument_needs_its_prefix(self):
        assert setting("arguments.workers=2").arguments["workers"] == 2
        assert refused("wrkrs=2") == (
            "--set wrkrs=2: there is no key 'wrkrs'\n  did you mean 'n_workers'?\n"
            "  a new fixed argument is written arguments.wrkrs=2, a new key of the search space.wrkrs=2"
        )

    def test_settings_build_on_one_another_and_the_last_wins(self):
        assert setting("batch_size=1", "batch_size=2").space["batch_size"] == 2
        assert setting("epochs=1,2", "epochs=7").space["epochs"] == 7

    def test_bad_domains_are_reported_at_the_setting(self):
        assert refused("batch_size=8,8") == (
            "--set batch_size=8,8: space.batch_size: choice lists a value twice; values: [8, 8]; list each value once"
        )
        assert refused("batch_size=[]") == "--set batch_size=[]: there is no value\n  give at least one"

    def test_names_of_our_columns_and_names_with_dots(self):
        assert setting("space.seed=1,2").space["seed"] == {"choice": [1, 2]}
        assert setting("space.model.lr=1,2").space["model.lr"] == {"choice": [1, 2]}
        assert setting("model.lr=3", text=SPACE.replace("epochs:", "model.lr:")).arguments["model.lr"] == 3


class TestTrials:
    def test_one_value_replaces_in_the_base_and_in_all_trials(self):
        found = setting("mode=stream", text=TRIALS)
        assert found.base_trial == {"batch_size": 32, "mode": "stream"}
        assert found.explicit_configurations == (
            {"batch_size": 32, "mode": "stream", "dataset": "a"},
            {"batch_size": 32, "mode": "stream", "dataset": "b"},
        )

    def test_trials_that_become_the_same_are_run_once(self):
        assert [t["mode"] for t in setting("dataset=a", text=TRIALS).explicit_configurations] == ["file", "pipe"]

    def test_trials_that_were_the_same_before_stay(self):
        text = TRIALS.replace("{dataset: b},", "{dataset: a},")
        assert len(setting("batch_size=32", text=text).trials) == 3

    def test_several_values_need_a_space(self):
        for one in ("batch_size=1,2", "epochs=1,2"):
            key = one.partition("=")[0]
            assert refused(one, text=TRIALS) == (
                f"--set {one}: {key!r} cannot take several values here\n  the definition lists its trials one by one\n"
                "  give one value, or write the definition with a `space`"
            )

    def test_base_trial_by_its_dotted_key(self):
        assert setting("base_trial.batch_size=64", text=TRIALS).base_trial["batch_size"] == 64
        assert "needs `trials`" in refused("base_trial.x=1")

    def test_single_trials_cannot_be_set(self):
        assert refused("trials.0.mode=x", text=TRIALS).startswith("--set trials.0.mode=x: single entries of trials cannot be set")


class TestFields:
    @pytest.mark.parametrize(
        ("given", "value"),
        [
            ("n_workers=2", lambda d: d.n_workers == 2),
            ("repeats=3", lambda d: d.repeats == 3),
            ("exclusive=false", lambda d: d.exclusive is False),
            ("order=random", lambda d: d.order == "random"),
            ("budget.max_wallclock_time=60", lambda d: d.budget.max_wallclock_time == 60),
            ("max_run=60", lambda d: d.budget.max_run == 60),
            ("max_cost=null", lambda d: d.budget.max_cost is None),
            ("seeds=2", lambda d: d.study.seeds == 2),
            ("preload=torch,numpy", lambda d: d.preload == ("torch", "numpy")),
            ("preload=torch", lambda d: d.preload == ("torch",)),
            ("preload=[]", lambda d: d.preload == ()),
            ("study.methods=RS,M", lambda d: d.study.methods == ("RS", "M")),
            ("fidelity.ladder=0.1,0.5", lambda d: d.fidelity.ladder == (0.1, 0.5)),
            ("valid='batch_size > 1','rate < 1'", lambda d: d.valid == ("batch_size > 1", "rate < 1")),
            ("datasets.photos.samples=500", lambda d: d.datasets["photos"].samples == 500),
            ("datasets.photos.samples=1k", lambda d: d.datasets["photos"].samples == 1000),
            ("inputs.train.dataset=photos", lambda d: d.inputs["train"].dataset == "photos"),
            ("objectives.speed=max", lambda d: list(d.objectives) == ["loss", "speed"]),
            ("methods.M.brackets=4", lambda d: d.methods["M"].arguments == {"brackets": 4}),
            ("methods.M.rungs=1,3", lambda d: d.methods["M"].arguments["rungs"] == [1, 3]),
            ("local.grace_s=2", lambda d: d.block("local", LocalBlock).grace_s == 2),
            ("grace_s=2", lambda d: d.block("local", LocalBlock).grace_s == 2),
            ("local.repeats=9", lambda d: d.repeats == 9),
            ("description=2.10", lambda d: d.description == "2.10"),
            ("description=no", lambda d: d.description == "no"),
        ],
    )
    def test_by_name(self, given, value):
        assert value(setting(given))

    def test_text_is_taken_as_it_is_written(self):
        found = setting("sagemaker.framework_version=2.10", "py_version='3.10'", "region=null", backend="sagemaker").block(
            "sagemaker", SageMakerBlock
        )
        assert (found.framework_version, found.py_version, found.region) == ("2.10", "3.10", None)

    def test_options_of_sagemaker_apply_to_warm_pools(self):
        assert setting("sagemaker.region=r", backend="warm_pool").block("warm_pool", SageMakerBlock).region == "r"
        assert setting("warm_pool.region=r", backend="warm_pool").block("warm_pool", SageMakerBlock).region == "r"

    def test_lists_and_mappings_of_sagemaker(self):
        found = setting("subnets=a,b", "sagemaker.security_groups=c", "sagemaker.tags.team=7", "spot=true", backend="sagemaker").block(
            "sagemaker", SageMakerBlock
        )
        assert (found.subnets, found.security_groups, found.tags, found.spot) == (("a", "b"), ("c",), {"team": "7"}, True)
        assert setting("fallback_instance_types=ml.m4.xlarge", backend="warm_pool").block(
            "warm_pool", SageMakerBlock
        ).fallback_instance_types == ("ml.m4.xlarge",)

    def test_options_of_another_back_end_are_refused(self):
        assert refused("sagemaker.region=x") == (
            "--set sagemaker.region=x: this is about the back-end sagemaker\n  the run is on local\n  leave it out"
        )

    @pytest.mark.parametrize(
        ("given", "message"),
        [
            ("n_workers=1,2", "n_workers takes one value\n  2 were given\n  only keys of the space and arguments can take several values"),
            ("n_workers=two", "n_workers: needs a whole number; 'two' was given"),
            (
                "n_workers={choice: [1]}",
                "n_workers takes one value\n  a domain was given\n  only keys of the space and arguments can take several values",
            ),
            ("budget.max_costs=1", "there is no key 'budget.max_costs'\n  did you mean budget.max_cost?"),
            ("name.x=1", "there is no key 'name.x'\n  name has no parts"),
            ("nonsense.x=1", "there is no key 'nonsense.x'\n  keys of this benchmark: batch_size, rate, epochs, amp"),
            ("datasets.photos.sampels=1", "datasets.photos.sampels: unknown key; did you mean 'samples'?"),
            ("budget=3", "'budget' has parts\n  one part is set at a time\n  write budget.NAME=..."),
            ("fraction=0.5", "'fraction' is what the fidelity varies\n  set fidelity.full, or fidelity.ladder"),
            ("a..b=1", "'a..b' has an empty part\n  keys are joined by single dots"),
            (
                "batch_sise=3",
                "there is no key 'batch_sise'\n  did you mean 'batch_size'?\n"
                "  a new fixed argument is written arguments.batch_sise=3, a new key of the search space.batch_sise=3",
            ),
        ],
    )
    def test_what_is_refused(self, given, message):
        assert refused(given) == f"--set {given}: {message}"

    def test_definitions_built_in_python_take_the_same_settings(self):
        definition = setting()
        given = ["batch_size=8,16", "epochs=2", "methods.M.brackets=4", "max_run=5", "preload=x"]
        assert resolve_python(definition, "local", given, check_files=False).definition == setting(*given)


@pytest.mark.parametrize("key", ["rate", "batch_size"])
@pytest.mark.parametrize("value", ["abc", "16,abc", "true"])
def test_a_word_for_a_number_is_refused_with_the_domain(key, value):
    shown = {"rate": "{loguniform: [0.0001, 0.1]}", "batch_size": "{choice: [32, 64]}"}[key]
    said = refused(f"{key}={value}").splitlines()
    assert said[0] == f"--set {key}={value}: {True if value == 'true' else 'abc'!r} is no number"
    assert said[1] == f"  {key} is {shown}"


def test_a_number_outside_of_the_domain_and_a_further_word_are_taken():
    assert setting("rate=7").search_space.domains["rate"].value == 7
    words = SPACE.replace("[32, 64]", "[few, many]")
    assert setting("batch_size=most", text=words).search_space.domains["batch_size"].value == "most"


CONDITIONAL = SPACE.replace("  rate:", "  reader: {when: batch_size == 64, choice: [sequential, range_based]}\n  rate:")


@pytest.mark.parametrize(
    ("given", "values"),
    [("reader=range_based", ["range_based"]), ("reader=range_based,mapped", ["range_based", "mapped"])],
)
def test_values_that_are_set_keep_the_condition_of_their_key(given, values):
    space = setting(given, text=CONDITIONAL).search_space
    assert list(space.domains["reader"].values) == values
    assert [space.conditions.holds("reader", {"batch_size": size}) for size in (32, 64)] == [False, True]


def test_a_word_for_a_number_is_refused_beside_a_condition_too():
    numbers = CONDITIONAL.replace("[sequential, range_based]", "[1, 2]")
    assert refused("reader=few", text=numbers).splitlines()[0] == "--set reader=few: 'few' is no number"


class TestFilesThatAreRead:
    @pytest.mark.parametrize(
        ("text", "paths"),
        [
            ("read=a.csv", ["a.csv"]),
            ("read=a.csv,b.csv", ["a.csv", "b.csv"]),
            ("read=[a.csv, 'b,c.csv']", ["a.csv", "b,c.csv"]),
        ],
    )
    def test_paths(self, text, paths):
        assert [one.path for one in setting(text).read] == paths

    def test_a_description_of_one_file(self):
        (found,) = setting("read={path: a.csv, level: step, counts_from: 0}").read
        assert (found.path, found.level, found.counts_from) == ("a.csv", "step", 0)

    def test_paths_and_descriptions_in_one_list(self):
        one, other, last = setting("read=[a.csv, {path: b.txt, format: jsonl, names: {loss: val/loss}}, 'c,d.csv']").read
        assert (one.path, one.found_format, last.path) == ("a.csv", "csv", "c,d.csv")
        assert (other.path, other.format, other.names) == ("b.txt", "jsonl", {"loss": "val/loss"})

    def test_a_wrong_description_in_a_list_is_named_by_its_place(self):
        text = refused("read=[a.csv, {path: b.csv, lvel: step}]")
        assert "read.1.lvel: unknown key; did you mean 'level'?" in text

    @pytest.mark.parametrize(
        ("text", "what"), [("read=[a.csv, [b.csv]]", "a list within a list"), ("lr=[0.1, {a: 1}]", "a mapping within a list")]
    )
    def test_what_no_list_can_have_is_said(self, text, what):
        assert refused(text).startswith(f"--set {text}: {what}")

    def test_a_key_that_no_file_has_is_refused(self):
        assert "--set read={path: a.csv, lvel: step}: read.0.lvel: unknown key; did you mean 'level'?" in refused(
            "read={path: a.csv, lvel: step}"
        )
