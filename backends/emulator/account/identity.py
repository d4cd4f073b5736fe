"""STS and IAM as far as a client of training jobs needs them: who am I, does the role exist, may it.

Roles that were not created are taken to exist: nothing here is protected.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from xml.sax.saxutils import escape

from backends.emulator.core.credentials import Keyring
from backends.emulator.core.settings import Settings
from backends.emulator.http.errors import ServiceError

_STS = "https://sts.amazonaws.com/doc/2011-06-15/"
_IAM = "https://iam.amazonaws.com/doc/2010-05-08/"


def sts(action: str, parameters: Mapping[str, str], settings: Settings, keyring: Keyring) -> str | None:
    """Return the XML answer of an STS call; None for one that is not imitated here.

    Args:
        action: the operation.
        parameters: of the call.
        settings: of the emulator.
        keyring: issues temporary credentials.
    """
    if action == "GetCallerIdentity":
        arn = f"arn:aws:iam::{settings.account}:user/emulated"
        return _answer(action, _STS, f"<Arn>{arn}</Arn><UserId>EMULATED</UserId><Account>{settings.account}</Account>")
    if action == "AssumeRole":
        role, session = parameters.get("RoleArn", ""), parameters.get("RoleSessionName", "session")
        arn = f"{role.replace(':iam:', ':sts:').replace(':role/', ':assumed-role/')}/{session}"
        user = f"<AssumedRoleUser><Arn>{escape(arn)}</Arn><AssumedRoleId>EMULATED:{escape(session)}</AssumedRoleId></AssumedRoleUser>"
        return _answer(action, _STS, _issued(parameters, keyring) + user)
    if action == "GetSessionToken":
        return _answer(action, _STS, _issued(parameters, keyring))
    return None


def _issued(parameters: Mapping[str, str], keyring: Keyring) -> str:
    asked = parameters.get("DurationSeconds", "3600")
    if not asked.isdecimal() or not 900 <= int(asked) <= 129_600:
        raise ServiceError("ValidationError", "DurationSeconds has to be from 900 to 129600.")
    made = keyring.issue(float(asked))
    until = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + int(asked)))
    return (
        f"<Credentials><AccessKeyId>{made.access_key}</AccessKeyId><SecretAccessKey>{made.secret_key}</SecretAccessKey>"
        f"<SessionToken>{made.token}</SessionToken><Expiration>{until}</Expiration></Credentials>"
    )


def iam(action: str, parameters: Mapping[str, str], settings: Settings, denies: Callable[[str], bool]) -> str | None:
    """Return the XML answer of an IAM call; None for one that is not imitated here.

    Args:
        action: the operation.
        parameters: of the call.
        settings: of the emulator.
        denies: whether a fault denies whoever asks for an action, e.g. `CreateTrainingJob`; nothing else here is protected.
    """
    if action == "GetRole":
        name = parameters.get("RoleName", "")
        arn = f"arn:aws:iam::{settings.account}:role/{name}"
        policy = "%7B%22Version%22%3A%222012-10-17%22%2C%22Statement%22%3A%5B%7B%22Effect%22%3A%22Allow%22%2C%22Principal%22%3A%7B%22"
        policy += "Service%22%3A%22sagemaker.amazonaws.com%22%7D%2C%22Action%22%3A%22sts%3AAssumeRole%22%7D%5D%7D"
        role = (
            f"<Path>/</Path><RoleName>{escape(name)}</RoleName><RoleId>EMULATED</RoleId><Arn>{escape(arn)}</Arn>"
            f"<CreateDate>2020-01-01T00:00:00Z</CreateDate><AssumeRolePolicyDocument>{policy}</AssumeRolePolicyDocument>"
        )
        return _answer(action, _IAM, f"<Role>{role}</Role>")
    if action == "SimulatePrincipalPolicy":
        names = [value for key, value in sorted(parameters.items()) if key.startswith("ActionNames.member.")]
        members = "".join(
            f"<member><EvalActionName>{escape(name)}</EvalActionName><EvalResourceName>*</EvalResourceName>"
            f"<EvalDecision>{'implicitDeny' if denies(name.partition(':')[2]) else 'allowed'}</EvalDecision></member>"
            for name in names
        )
        return _answer(action, _IAM, f"<EvaluationResults>{members}</EvaluationResults><IsTruncated>false</IsTruncated>")
    return None


def _answer(action: str, namespace: str, content: str) -> str:
    return (
        f'<{action}Response xmlns="{namespace}"><{action}Result>{content}</{action}Result>'
        f"<ResponseMetadata><RequestId>emulated</RequestId></ResponseMetadata></{action}Response>"
    )
