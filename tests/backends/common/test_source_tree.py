"""Which files of a folder are its code."""

import os

import pytest

from backends.common.source_tree import files_below, look_through


def names(folder):
    return sorted(name for name, _ in files_below(folder))


def make(folder, *paths):
    for path in paths:
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text("x")


def test_what_is_generated_or_hidden_by_habit_is_none(tmp_path):
    make(tmp_path, "a.py", "pkg/b.py", "pkg/__pycache__/b.pyc", ".git/config", ".venv/x.py", "node_modules/y.js", "pkg/c.pyo", ".DS_Store")
    make(tmp_path, "results/t/x.csv", "pkg/results/kept.csv", ".hidden", ".outriderignore")
    assert names(tmp_path) == [".hidden", "a.py", "pkg/b.py", "pkg/results/kept.csv"]


def test_own_patterns_leave_out_more(tmp_path):
    make(tmp_path, "a.py", "big.bin", "data/x", "pkg/data/y", "pkg/big.bin", "notes", "pkg/notes/z", "deep/er/t.log")
    (tmp_path / ".outriderignore").write_text("# what is large\n\n/data\n*.bin\nnotes/ \ndeep/*/t.log\n")
    assert names(tmp_path) == ["a.py", "notes", "pkg/data/y"]


def test_patterns_are_those_of_gitignore(tmp_path):
    make(tmp_path, "a.bin", "kept.bin", "pkg/deep/x.log", "pkg/x.log", "doc/a/b/c.md", "#odd", "build/out/y", "build/keep/z")
    (tmp_path / ".outriderignore").write_text("*.bin\n!kept.bin\n**/deep/*.log\ndoc/**/c.md\n\\#odd\n/build/*\n!/build/keep\n")
    assert names(tmp_path) == ["build/keep/z", "kept.bin", "pkg/x.log"]
    (tmp_path / ".outriderignore").write_text("!.env\n")
    make(tmp_path, ".env", ".env.local")
    assert ".env" in names(tmp_path)
    assert ".env.local" not in names(tmp_path)


SECRETS = [
    *(".env", ".env.production", "id_rsa", "id_ed25519.pub", "server.key", "pkg/cert.pem", ".netrc", ".pypirc", ".git-credentials"),
    *("credentials", "credentials.json", "client_secret_1.json", "service-account.json", "secrets.toml", ".streamlit/secrets.toml"),
    *("kaggle.json", "main.tfstate", ".ENV", "ID_RSA", "prod.env", ".envrc", "secret.yml", "AuthKey.p8", "kubeconfig", ".netrc.old"),
    *(".bash_history", ".databrickscfg", ".huggingface_token", ".Renviron", ".api-key", "hf_token.txt", ".db_password"),
]
FOLDERS = [
    ".aws/credentials",
    ".ssh/config",
    ".config/gcloud/x.json",
    ".kube/config",
    ".docker/config.json",
    ".gnupg/x",
    ".cache/huggingface/token",
]


def test_what_may_hold_a_secret_stays_behind_and_is_named(tmp_path):
    code = ["a.py", "environment.yaml", "keys.py", "loss_history.csv", "secret.py", "token.py", "token/words.py", "tokens.json"]
    make(tmp_path, *code, *SECRETS, *FOLDERS)
    found = list(look_through(tmp_path))
    assert sorted(one.name for one in found if not one.is_secret) == code
    folders = {".aws/", ".ssh/", ".config/gcloud/", ".kube/", ".docker/", ".gnupg/", ".cache/"}
    assert {one.name for one in found if one.is_secret} == {*SECRETS, *folders}


@pytest.mark.parametrize(
    ("include", "more"),
    [
        ([".env"], [".env"]),
        (["*.key"], ["pkg/deep.key", "server.key"]),
        ([".aws/config"], [".aws/config"]),
        ([".aws"], [".aws/config", ".aws/credentials"]),
        (["/server.key", "!/server.key"], []),
        (["results/table.csv"], ["results/table.csv"]),
    ],
)
def test_what_is_included_belongs_to_it_all_the_same(tmp_path, include, more):
    make(tmp_path, "a.py", ".env", "server.key", "pkg/deep.key", ".aws/config", ".aws/credentials", "results/table.csv", "results/t/x.csv")
    assert sorted(name for name, _ in files_below(tmp_path, include)) == sorted(["a.py", *more])


def test_environments_and_results_stay_behind_whatever_they_are_called(tmp_path):
    make(tmp_path, "a.py", "env/pyvenv.cfg", "env/lib/b.py", "conda/conda-meta/history", "conda/c.py")
    make(tmp_path, "out/t/d/RS-local-0/journal.sqlite", "out/t/d/RS-local-0/logs/x.log", "out/t/d/notes.md")
    assert names(tmp_path) == ["a.py", "out/t/d/notes.md"]


def test_links_travel_and_pipes_do_not(tmp_path):
    make(tmp_path, "pkg/a.py")
    (tmp_path / "file").symlink_to("pkg/a.py")
    (tmp_path / "folder").symlink_to("pkg")
    os.mkfifo(tmp_path / "pipe")
    assert names(tmp_path) == ["file", "folder", "pkg/a.py"]


def test_each_name_goes_with_its_path(tmp_path):
    make(tmp_path, "pkg/a.py")
    assert list(files_below(tmp_path)) == [("pkg/a.py", tmp_path / "pkg" / "a.py")]


def test_a_folder_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        names(tmp_path / "nowhere")
