"""Layers, origins, complaints with lines, and the hash of what determines results."""

from pathlib import Path

import pytest

from backends.local.description import LocalBlock
from backends.sagemaker.block import SageMakerBlock
from backends.simulated.description import SimulatedBlock
from definitions.errors import UserError
from definitions.resolve import resolve, resolve_python
from definitions.schema import BenchmarkDefinition, Budget
from definitions.yaml_source import parse_yaml, read_yaml

DEMO = """\
name: demo
script: train.py
arguments: {epochs: 1}
space:
  instance_type: {choice: [local.1cpu, local.2cpu]}
  batch_size: {choice: [32, 64]}
objectives: {cost_usd: min, loss: min}
repeats: 3
inputs:
  train: {ingestion: local}
budget:
  max_failures: 5
  max_run: 120
preload: [torch]
local:
  repeats: 2
  grace_s: 1
  budget: {max_run: 60}
  space:
    batch_size: {randint: [8, 16]}
    extra: 1
sagemaker:
  space: {instance_type: {choice: [ml.g4dn.xlarge]}}
  arguments: {amp: true}
  inputs: {train: {ingestion: fastfile}}
  framework: pytorch
  region: us-east-1
warm_pool:
  repeats: 7
  region: eu-west-1
"""


def resolved(text=DEMO, backend="local", settings=(), **options):
    return resolve(parse_yaml(text, Path("demo.yaml")), backend, settings, check_files=False, **options)


def refused(text, backend="local", settings=(), **options):
    with pytest.raises(UserError) as caught:
        resolved(text, backend, settings, **options)
    return str(caught.value)


def small(extra=""):
    return f"name: demo\nscript: train.py\nspace: {{a: {{choice: [1, 2]}}}}\nobjectives: {{loss: min}}\n{extra}"


class TestLayers:
    def test_a_back_end_without_a_block_gets_the_file(self):
        found = resolved(backend="simulated").definition
        assert found.repeats == 3
        assert found.space == {"instance_type": {"choice": ["local.1cpu", "local.2cpu"]}, "batch_size": {"choice": [32, 64]}}
        assert found.budget == Budget(max_failures=5, max_run=120)

    def test_a_back_end_that_is_not_installed_is_refused(self):
        assert refused(small(), "warmpool") == (
            "there is no back-end 'warmpool'\n  installed: local, simulated, sagemaker, warm_pool, ray\n  did you mean 'warm_pool'?"
        )

    def test_the_block_is_laid_over_the_file_key_by_key(self):
        found = resolved().definition
        assert found.repeats == 2
        assert found.budget == Budget(max_failures=5, max_run=60)
        assert list(found.space) == ["instance_type", "batch_size", "extra"]

    def test_a_domain_is_replaced_whole(self):
        assert resolved().definition.space["batch_size"] == {"randint": [8, 16]}

    def test_the_blocks_own_options_stay_in_it_and_other_blocks_are_empty(self):
        found = resolved().definition
        assert found.block("local", LocalBlock).model_dump(exclude_none=True) == {"grace_s": 1}
        assert list(found.blocks) == ["local"]

    def test_warm_pool_is_laid_over_sagemaker(self):
        found = resolved(backend="warm_pool").definition
        assert found.repeats == 7
        assert found.arguments == {"epochs": 1, "amp": True}
        assert found.inputs["train"].ingestion == "fastfile"
        assert found.space["instance_type"] == {"choice": ["ml.g4dn.xlarge"]}
        assert found.block("warm_pool", SageMakerBlock).model_dump(exclude_none=True) == {"framework": "pytorch", "region": "eu-west-1"}
        assert list(found.blocks) == ["warm_pool"]

    def test_sagemaker_knows_nothing_of_warm_pool(self):
        found = resolved(backend="sagemaker").definition
        assert (found.repeats, found.block("sagemaker", SageMakerBlock).region) == (3, "us-east-1")

    def test_null_in_a_block_means_not_given_but_null_in_a_budget_lifts_the_limit(self):
        found = resolved(small("n_workers: 2\nbudget: {max_run: 9}\nlocal: {n_workers: null, budget: {max_run: null}}")).definition
        assert (found.n_workers, found.budget.max_run) == (2, None)

    def test_trials_of_a_block_replace_those_of_the_file_and_its_base_is_merged(self):
        text = "name: d\nscript: t.py\nobjectives: {x: min}\nbase_trial: {a: 1, b: 1}\ntrials: [{c: 1}]\n"
        found = resolved(text + "local: {base_trial: {b: 2}, trials: [{c: 5}, {c: 6}]}").definition
        assert found.explicit_configurations == ({"a": 1, "b": 2, "c": 5}, {"a": 1, "b": 2, "c": 6})

    def test_a_space_given_in_blocks_only(self):
        text = "name: d\nscript: t.py\nobjectives: {x: min}\nvalid: [a > 1]\nlocal: {space: {a: {choice: [1, 2]}}}"
        assert resolved(text).definition.space == {"a": {"choice": [1, 2]}}
        assert "names 'a', which is no key of the configurations" in refused(text, "sagemaker")

    def test_the_result_resolves_to_itself(self):
        for backend in ("local", "warm_pool"):
            once = resolved(backend=backend).definition
            assert resolve_python(once, backend, check_files=False).definition == once


class TestOrigins:
    def test_each_value_has_one(self):
        found = resolved(settings=["epochs=3", "repeats=4"]).origins
        assert {key: found[key] for key in ("name", "space.instance_type", "inputs.train.ingestion", "budget.max_failures", "preload")} == {
            "name": "demo.yaml:1",
            "space.instance_type": "demo.yaml:5",
            "inputs.train.ingestion": "demo.yaml:10",
            "budget.max_failures": "demo.yaml:12",
            "preload": "demo.yaml:14",
        }
        assert found["budget.max_run"] == "demo.yaml:18 (local)"
        assert found["space.batch_size"] == "demo.yaml:20 (local)"
        assert found["local.grace_s"] == "demo.yaml:17 (local)"
        assert found["arguments.epochs"] == found["repeats"] == "--set"
        assert {found[key] for key in ("source_dir", "budget.max_cost", "inputs.train.dataset", "n_workers", "study.seeds")} == {"default"}
        assert not any(key.startswith(("sagemaker", "warm_pool", "simulated")) for key in found)

    def test_warm_pool_says_which_block(self):
        found = resolved(backend="warm_pool").origins
        assert found["warm_pool.framework"] == "demo.yaml:26 (sagemaker)"
        assert found["warm_pool.region"] == "demo.yaml:30 (warm_pool)"

    def test_variants_and_trials(self):
        text = "name: d\nscript: t.py\nobjectives: {x: min}\ntrials:\n- {a: 1}\n- {a: 2}\nmethods:\n  M: {base: ASHA,\n    brackets: 3}\n"
        found = resolved(text).origins
        assert found["methods.M.arguments.brackets"] == "demo.yaml:9"
        assert found["methods.M.base"] == "demo.yaml:8"
        assert (found["trials.0"], found["trials.1"]) == ("demo.yaml:5", "demo.yaml:6")

    def test_python(self):
        definition = BenchmarkDefinition(
            name="d", script="t.py", space={"a": 1}, objectives={"x": "min"}, budget=Budget(max_cost=2), sagemaker=SageMakerBlock(repeats=4)
        )
        found = resolve_python(definition, "sagemaker", ["a=3"], check_files=False)
        assert found.definition.space == {"a": 3}
        assert found.definition.repeats == 4
        assert {key: found.origins[key] for key in ("name", "budget.max_cost", "budget.max_run", "repeats", "space.a")} == {
            "name": "python",
            "budget.max_cost": "python",
            "budget.max_run": "default",
            "repeats": "python (sagemaker)",
            "space.a": "--set",
        }


class TestPaths:
    def write(self, folder, text, *scripts):
        (folder / "demo.yaml").write_text(text)
        for script in scripts:
            (folder / script).parent.mkdir(parents=True, exist_ok=True)
            (folder / script).write_text("")
        return read_yaml(folder / "demo.yaml")

    def test_source_dir_is_relative_to_the_file(self, tmp_path):
        source = self.write(tmp_path, small(), "train.py")
        assert resolve(source, "local").definition.source_dir == str(tmp_path)
        source = self.write(tmp_path, small("source_dir: code"), "code/train.py")
        assert resolve(source, "local").definition.source_dir == str(tmp_path / "code")

    def test_in_a_setting_it_is_relative_to_the_current_folder(self, tmp_path):
        source = self.write(tmp_path, small(), "elsewhere/code/train.py")
        found = resolve(source, "local", ["source_dir=code"], working_dir=tmp_path / "elsewhere")
        assert found.definition.source_dir == str(tmp_path / "elsewhere" / "code")

    def test_python_definitions_are_relative_to_the_current_folder(self, tmp_path, monkeypatch):
        (tmp_path / "t.py").write_text("")
        monkeypatch.chdir(tmp_path)
        definition = BenchmarkDefinition(name="d", script="t.py", space={"a": 1}, objectives={"x": "min"})
        assert resolve_python(definition, "local").definition.source_dir == str(tmp_path)

    def test_data_sets_and_tables(self, tmp_path):
        (tmp_path / "sets").mkdir()
        (tmp_path / "sets" / "all.yaml").write_text("mine: {type: path, path: data}\nabs: {type: path, path: /data}\n")
        source = self.write(tmp_path, small("datasets: sets/all.yaml\nsimulated: {table: runs.csv}"), "train.py")
        found = resolve(source, "simulated")
        assert found.definition.datasets["mine"].path == str(tmp_path / "sets" / "data")
        assert found.definition.datasets["abs"].path == "/data"
        assert found.definition.block("simulated", SimulatedBlock).table == str(tmp_path / "runs.csv")
        assert found.origins["datasets.mine.path"] == "all.yaml:1"
        assert found.origins["simulated.table"] == "demo.yaml:6 (simulated)"

    def test_a_missing_script_says_where_it_was_looked_for(self, tmp_path):
        source = self.write(tmp_path, small())
        with pytest.raises(UserError) as caught:
            resolve(source, "local")
        assert str(caught.value) == (
            f"{tmp_path}/demo.yaml:2: script: there is no file 'train.py'\n  looked for {tmp_path}/train.py\n"
            "  `script` is relative to `source_dir`; that is the folder of the definition, as none is given"
        )
        assert resolve(source, "local", check_files=False).definition.script == "train.py"

    def test_a_missing_source_dir(self, tmp_path):
        source = self.write(tmp_path, small("source_dir: nope"))
        with pytest.raises(UserError, match=r"demo.yaml:5: source_dir: there is no folder .*/nope"):
            resolve(source, "local")


class TestComplaints:
    def test_one_problem_is_one_line(self):
        assert refused(small("budget:\n  max_failure: 3")) == "demo.yaml:6: budget.max_failure: unknown key; did you mean 'max_failures'?"

    def test_all_problems_come_at_once_in_the_order_of_the_file(self):
        text = """\
name: demo
script: 5
space:
  a: {choise: [1]}
  b: {loguniform: [0, 1]}
objectives: {loss: mni}
arguments: {x: [1], y: {z: 1}}
max_run: 60
datasets:
  photos: {type: images, samples: lots}
  p2: {type: vidio}
  p3: {format: jpg}
  p4: 4
fidelity: {kind: per_job, argument: f, ladder: [0.3, 0.1]}
preload: torch
methods: {M: {brackets: 3}}
sagemaker: {framework_version: 2.10, n_workers: 0, spcae: {}}
budget: {max_cost: -1, max_wallclock_time: x, max_num_trials: 2.5, max_run: .inf}
exclusive: yes
"""
        assert refused(text).splitlines() == [
            "demo.yaml has 20 problems:",
            "  demo.yaml:2: script: needs text; 5 was given; put it in quotes, as you mean it",
            "  demo.yaml:4: space.a: there is no domain kind 'choise'; did you mean 'choice'?",
            "  demo.yaml:5: space.b: loguniform starts at 0; a log scale needs a lower bound above 0",
            "  demo.yaml:6: objectives.loss: must be one of min, max; 'mni' was given; did you mean 'min'?",
            "  demo.yaml:8: max_run: unknown key; it belongs to 'budget': budget.max_run",
            "  demo.yaml:10: datasets.photos.samples: 'lots' is not a count such as 2000 or 2k",
            "  demo.yaml:11: datasets.p2.type: must be one of images, bytes, table, caltech256, path, s3, filesystem; 'vidio' was given",
            "  demo.yaml:12: datasets.p3.type: is missing",
            "  demo.yaml:13: datasets.p4: needs a mapping (key: value); 4 was given",
            "  demo.yaml:14: fidelity: the ladder must ascend",
            "  demo.yaml:15: preload: needs a list; 'torch' was given",
            "  demo.yaml:16: methods.M.base: is missing",
            "  demo.yaml:17: sagemaker.n_workers: must be above 0; 0 was given",
            "  demo.yaml:17: sagemaker.framework_version: needs text; 2.1 was given; put it in quotes, as you mean it",
            "  demo.yaml:17: sagemaker.spcae: unknown key; did you mean 'space'?",
            "  demo.yaml:18: budget.max_wallclock_time: needs a number; 'x' was given",
            "  demo.yaml:18: budget.max_cost: must be above 0; -1 was given",
            "  demo.yaml:18: budget.max_num_trials: needs a whole number; 2.5 was given",
            "  demo.yaml:18: budget.max_run: needs a finite number; inf was given",
            "  demo.yaml:19: exclusive: needs true or false; 'yes' was given",
        ]

    def test_blocks_of_other_back_ends_are_checked_too(self):
        assert refused(small("sagemaker:\n  regoin: x"), "local") == "demo.yaml:6: sagemaker.regoin: unknown key; did you mean 'region'?"

    def test_what_does_not_fit_together_names_the_layer(self):
        text = small("arguments: {epochs: 1}\nlocal:\n  space: {epochs: {choice: [1, 2]}}")
        assert refused(text) == "demo.yaml:5: arguments.epochs: 'epochs' is both a fixed argument and a key of the configurations; keep one"
        assert resolved(text, "sagemaker").definition.arguments == {"epochs": 1}

    def test_a_setting_is_named_as_the_place(self):
        assert refused(small(), settings=["budget.max_cost=cheap"]) == (
            "--set budget.max_cost=cheap: budget.max_cost: needs a number; 'cheap' was given"
        )

    def test_nothing_to_run(self):
        assert refused("name: d\nscript: t.py\nobjectives: {x: min}\nspace: {}") == (
            "demo.yaml:1: there is nothing to run: give `space` (what is searched) or `trials` (configurations one by one)"
        )

    def test_missing_keys(self):
        assert refused("name: d\ndatasets: {d: {type: path}}") == (
            "demo.yaml has 2 problems:\n  demo.yaml:1: objectives: is missing\n  demo.yaml:2: datasets.d.path: is missing"
        )

    @pytest.mark.parametrize("backend", ["local", "simulated"])
    def test_without_a_script_nothing_runs_but_on_sagemaker(self, backend):
        text = "name: d\nspace: {a: 1}\nobjectives: {x: min}\nsagemaker: {image: my/image:1}"
        assert refused(text, backend) == f"demo.yaml:1: script: is missing; back-end {backend} runs nothing else"
        assert resolved(text, "sagemaker").definition.script is None
        assert resolved(text, "warm_pool").definition.block("warm_pool", SageMakerBlock).image == "my/image:1"

    def test_without_a_script_sagemaker_is_told_what_runs(self):
        text = "name: d\nspace: {a: 1}\nobjectives: {x: min}\nsagemaker:\n  framework: pytorch\n"
        assert (
            refused(text, "sagemaker") == "demo.yaml:1: script: is missing; without one, give sagemaker.image or sagemaker.algorithm_name"
        )

    def test_an_algorithm_runs_no_script_and_says_nothing_by_itself(self):
        text = "name: d\nspace: {a: 1}\nobjectives:\n  x: min\n  cost_usd: min\nsagemaker:\n  algorithm_name: xgb\n"
        assert refused(text, "sagemaker") == (
            "demo.yaml:4: objectives.x: an algorithm prints no reports; give metrics.x, a regular expression"
        )
        assert resolved(text + "  metrics: {x: 'x=(.*)'}", "sagemaker").definition.metrics == {"x": "x=(.*)"}
        text += "  metrics: {x: 'x=(.*)'}\n  image: i\nscript: t.py"
        assert refused(text, "sagemaker").splitlines()[1:] == [
            "  demo.yaml:7 (sagemaker): sagemaker.algorithm_name: an image is given too; keep one of them",
            "  demo.yaml:7 (sagemaker): sagemaker.algorithm_name: an algorithm runs its own program; leave out `script`, or give an image",
        ]

    def test_options_of_sagemaker(self):
        block = """sagemaker:
  metrics: {a: "no group", b: "(one)(two)", c: "("}
  keep_alive: 0
  profiler_interval_ms: 300
  retries: 31
  tags: {a: 1}
  volume_gb: 0.5
  security_groups: []
"""
        assert refused(small(block), "sagemaker").splitlines()[1:] == [
            "  demo.yaml:6: sagemaker.metrics: a: 'no group' has 0 groups; it needs exactly one, around the number "
            "(others are written `(?:...)`)",
            "  demo.yaml:7: sagemaker.keep_alive: must be at least 1; 0 was given",
            "  demo.yaml:8: sagemaker.profiler_interval_ms: must be one of 100, 200, 500, 1000, 5000, 60000; 300 was given; "
            "did you mean '500'?",
            "  demo.yaml:9: sagemaker.retries: must be at most 30; 31 was given",
            "  demo.yaml:10: sagemaker.tags.a: needs text; 1 was given; put it in quotes, as you mean it",
            "  demo.yaml:11: sagemaker.volume_gb: needs a whole number; 0.5 was given",
            "  demo.yaml:12: sagemaker.security_groups: needs at least one entry",
        ]

    def test_file_systems(self):
        block = "datasets:\n  a: {type: filesystem, kind: fsx, id: fs-0123456789abcdef0, directory: /x}\n"
        found = resolved(small(block), "sagemaker").definition.datasets["a"]
        assert (found.uri, found.layout) == ("fsx://fs-0123456789abcdef0/x", "files")
        wrong = block.replace("fs-0123456789abcdef0", "fs-1").replace("/x", "x").replace("fsx,", "nfs,")
        assert refused(small(wrong), "sagemaker").splitlines()[1:] == [
            "  demo.yaml:6: datasets.a.kind: must be one of fsx, efs; 'nfs' was given; did you mean 'fsx'?",
            "  demo.yaml:6: datasets.a.id: needs the form fs-0123456789abcdef0; 'fs-1' was given",
            "  demo.yaml:6: datasets.a.directory: needs an absolute path; 'x' was given",
        ]

    def test_python_definitions_complain_alike(self):
        definition = BenchmarkDefinition(name="d", script="t.py", objectives={"x": "min"})
        with pytest.raises(UserError, match="python: there is nothing to run"):
            resolve_python(definition, "local")

    def test_unknown_data_sets(self):
        sets = "datasets: {photos: {type: images}}\n"
        head = "name: d\nscript: t.py\nobjectives: {x: min}\n" + sets
        assert refused(head + "space:\n  dataset: {choice: [photos, fotos]}") == (
            "demo.yaml:6: space.dataset: there is no data set 'fotos'; did you mean 'photos'?"
        )
        assert refused(head + "trials:\n- {dataset: x}\n- {dataset: photos}") == (
            "demo.yaml:6: trials.0.dataset: there is no data set 'x'; known: photos"
        )
        assert refused(head + "base_trial: {dataset: x}\ntrials: [{a: 1}]").startswith("demo.yaml:5: base_trial.dataset: there is no")
        assert refused(head + "space: {a: 1}\ninputs: {train: {dataset: x}}").startswith("demo.yaml:6: inputs.train.dataset: there is no")

    def test_without_declared_data_sets_names_are_free(self):
        assert resolved("name: d\nscript: t.py\nobjectives: {x: min}\nspace: {dataset: {choice: [any, thing]}}").definition.space

    def test_no_valid_configuration(self):
        assert refused(small("valid: [a > 1, a < 2]")) == (
            "demo.yaml:5: valid: no configuration is valid; relax a rule, or search other values"
        )
        assert resolved(small("valid: [a > 1]")).definition.valid == ("a > 1",)

    def test_variants_build_on_methods(self):
        assert refused(small("methods:\n  A: {base: B}\n  B: {base: ASHA}")) == (
            "demo.yaml:6: methods.A.base: 'B' is itself a variant of this definition; a variant's base is a method, not another variant"
        )
        assert refused(small("methods: {A: {base: A}}")).endswith("'A' is itself a variant of this definition; it needs a name of its own")

    def test_names_of_methods_where_they_are_known(self):
        text = small("methods: {A: {base: ASAH}}\nmethod: RSS\nstudy: {methods: [A, RS, nonsense]}")
        assert refused(text, methods=["ASHA", "RS"]).splitlines()[1:] == [
            "  demo.yaml:5: methods.A.base: there is no method 'ASAH'; did you mean 'ASHA'?",
            "  demo.yaml:6: method: there is no method 'RSS'; did you mean 'RS'?",
            "  demo.yaml:7: study.methods.2: there is no method 'nonsense'; known: A, ASHA, RS",
        ]
        assert resolved(text).definition.method == "RSS"
