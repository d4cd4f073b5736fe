import pytest

from backends.common.secret_strings import bits_per_character, holds_secret_setting, looks_secret

# Made up for this test, by the forms of the services.
SECRETS = [
    ("X", "AKIA" + "ABCDEFGH12345678"),
    ("X", "hf_" + "aBcDeFgHiJkLmNoPqRsTuVwXyZ012345"),
    ("X", "ghp_" + "0123456789abcdefghijABCDEFGHIJ012345"),
    ("X", "3f786850e387550fdab836ed7e6dc881de23001b"),
    ("X", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzq9Tk4Lm0"),
    ("API_KEY", "short-key-1"),
    ("DB_PASSWORD", "p@ss!word"),
    ("WANDB-API-KEY", "abcdefgh"),
    ("MY_TOKEN", "12ab34cd"),
]
PLAIN = [
    ("MODE", "train"),
    ("X", ""),
    ("DATA", "s3://bucket/AbCdEfGh0123456789XyZ/wJalrXUtnFEMI"),
    ("ROLE", "arn:aws:iam::123456789012:role/Trainer0123456789AbC"),
    ("PATH", "/usr/local/bin:/usr/bin:/Abc0123456789def"),
    ("TOKENIZER", "bert-base-uncased"),
    ("TOKENIZERS_PARALLELISM", "false"),
    ("MAX_TOKENS", "2048"),
    ("TOKEN_FILE", "/run/secrets/token"),
    ("KEYS", "a"),
    ("MODEL", "meta-llama/Llama-3.1-8B-Instruct"),
    ("NCCL_SOCKET_IFNAME", "eth0"),
    ("TEXT", "The quick brown Fox jumps over 13 lazy dogs"),
    ("ONES", "1" * 40),
]


@pytest.mark.parametrize(("name", "value"), SECRETS)
def test_what_may_be_a_secret(name, value):
    assert looks_secret(name, value)


@pytest.mark.parametrize(("name", "value"), PLAIN)
def test_what_is_none(name, value):
    assert not looks_secret(name, value)


def test_entropy():
    assert bits_per_character("abcd" * 3) == 2.0
    assert bits_per_character("aaaa") == 0.0


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("[default]\naws_secret_access_key = wJalrXUtnFEMI/K7MDENG", True),
        ('{"a": 1, "client-secret": "0123456789abcdef"}', True),
        ("db.password=hunter2hunter2", True),
        ('{"pad_token": "<|endoftext|>"}', False),
        ("password: ${oc.env:DB_PASSWORD}", False),
        ("api_key: null", False),
        ("password_file: /run/secrets/password", False),
    ],
)
def test_a_setting_gives_a_secret_a_value(text, holds):
    assert holds_secret_setting(text) is holds
