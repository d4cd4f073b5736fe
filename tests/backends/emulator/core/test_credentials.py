"""Access keys of a run."""

from __future__ import annotations

import re

from backends.emulator.core.credentials import Credentials, Keyring, derive


def test_no_two_runs_have_the_same_and_the_form_is_aws_s_own():
    drawn = [Credentials.drawn() for _ in range(100)]
    assert len({one.access_key for one in drawn}) == len({one.secret_key for one in drawn}) == 100
    for one in drawn:
        assert re.fullmatch("AKIA[A-Z2-7]{16}", one.access_key)
        assert len(one.secret_key) == 40


def test_secrets_are_not_shown():
    made = Credentials.drawn(temporary=True)
    assert made.secret_key not in repr(made)
    assert made.token not in repr(made)


def test_the_signing_key_is_the_documented_one():
    # AWS General Reference, "Examples of how to derive a signing key".
    assert derive("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", "20150830/us-east-1/iam/aws4_request").hex() == (
        "c4afb1cc5771d871763a393e44b703571b55cc28424d1a5e86da6ed3c154a4b9"
    )


def test_a_keyring_knows_its_run_s_credentials_and_no_others():
    own = Credentials.drawn()
    keyring = Keyring(own)
    assert keyring.find(own.access_key) == (own, False)
    assert keyring.find(Credentials.drawn().access_key) is None
    assert keyring.find("ä" * 20) is None


def test_memory_does_not_grow_with_the_scopes_that_clients_name():
    own = Credentials.drawn()
    keyring = Keyring(own)
    for day in range(500):
        keyring.signing_key(own, f"{day}/us-east-1/s3/aws4_request")
    assert len(keyring._signing) == 64  # noqa: SLF001 (what cannot be seen otherwise)
