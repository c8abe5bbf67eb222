#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
manifest.py FILE: are its Kubernetes objects ones, and do they ask for no more
than docs/install.md says?

There is no server here.  The schema is that of Kubernetes' OpenAPI description,
as python3-kubernetes has it: names and types of all fields, which are required,
and what values are allowed.  What the schema does not say and the server would
refuse is compared here, too.
"""
import re
import sys
from typing import Any

import yaml
from kubernetes import client

KINDS = {("apps/v1", "DaemonSet"): "V1DaemonSet", ("v1", "Namespace"): "V1Namespace"}
SCALARS = {"str": str, "bool": bool, "int": int, "float": (int, float)}


def build(kind: str, value: Any, path: str) -> Any:
    """An object of the client's class, which checks it; ValueError if it is none."""
    if match := re.fullmatch(r"list\[(.*)\]", kind):
        if not isinstance(value, list):
            raise ValueError(f"{path}: not a list")
        return [build(match[1], item, f"{path}[{i}]") for i, item in enumerate(value)]
    if match := re.fullmatch(r"dict\(str, (.*)\)", kind):
        if not isinstance(value, dict):
            raise ValueError(f"{path}: not a map")
        return {build("str", key, path): build(match[1], item, f"{path}.{key}")
                for key, item in value.items()}
    if kind in SCALARS:
        if not isinstance(value, SCALARS[kind]) or (kind == "int" and isinstance(value, bool)):
            raise ValueError(f"{path}: {value!r} is no {kind}")
        return value
    return build_model(getattr(client, kind), value, path)


def build_model(model: Any, value: Any, path: str) -> Any:
    """The same, of a class."""
    if not isinstance(value, dict):
        raise ValueError(f"{path}: not a map")
    names = {json: name for name, json in model.attribute_map.items()}
    fields = {}
    for key, item in value.items():
        if key not in names:
            raise ValueError(f"{path}.{key}: no such field")
        fields[names[key]] = build(model.openapi_types[names[key]], item, f"{path}.{key}")
    try:
        return model(**fields)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def refused(daemonset: Any) -> list[str]:
    """What a server would refuse though the schema allows it."""
    spec = daemonset.spec
    labels = spec.template.metadata.labels
    pod = spec.template.spec
    volumes = {volume.name for volume in pod.volumes}
    wrong = []
    if not spec.selector.match_labels.items() <= labels.items():
        wrong.append("the selector does not match the template")
    for container in pod.containers:
        wrong += [f"no volume {mount.name}" for mount in container.volume_mounts
                  if mount.name not in volumes]
        for amounts in (container.resources.requests, container.resources.limits):
            wrong += [f"{amount} is no amount" for amount in amounts.values()
                      if not re.fullmatch(r"\d+(m|Ki|Mi|Gi)?", amount)]
    return wrong


def too_much(daemonset: Any) -> list[str]:
    """What it asks for beside the device, the group and the cgroups."""
    pod = daemonset.spec.template.spec
    wrong = []
    for name in ("host_pid", "host_ipc", "host_network"):
        if getattr(pod, name):
            wrong.append(name)
    context = pod.security_context
    if not (context.run_as_non_root and context.run_as_user and context.run_as_group):
        wrong.append("runs as root")
    if len(context.supplemental_groups) != 1 or context.fs_group is not None:
        wrong.append("not one group")
    if context.seccomp_profile.type != "RuntimeDefault":
        wrong.append("no seccomp profile")
    if pod.automount_service_account_token is not False:
        wrong.append("has a token")
    for volume in pod.volumes:
        if volume.host_path is None or volume.host_path.path != "/sys/fs/cgroup":
            wrong.append(f"volume {volume.name}")
    for container in (pod.containers + (pod.init_containers or [])):
        wrong += container_too_much(container)
    return wrong


def container_too_much(container: Any) -> list[str]:
    """The same, of a container."""
    context = container.security_context
    wrong = []
    if context.privileged or context.allow_privilege_escalation is not False:
        wrong.append("privileges")
    if context.capabilities.drop != ["ALL"] or context.capabilities.add:
        wrong.append("capabilities")
    if not context.read_only_root_filesystem:
        wrong.append("can write")
    if any(not mount.read_only for mount in container.volume_mounts):
        wrong.append("a volume that can be written to")
    devices = {name for name in container.resources.limits if "/" in name}
    if devices != {"squat.ai/cmt"}:
        wrong.append(f"devices {devices}")
    return wrong


def main() -> None:
    """Exit 0: all right; 1: not."""
    with open(sys.argv[1], encoding="utf-8") as file:
        documents = list(yaml.safe_load_all(file))
    wrong = []
    kinds = []
    for document in documents:
        kind = (document.get("apiVersion"), document.get("kind"))
        kinds.append(kind)
        try:
            if kind not in KINDS:
                raise ValueError(f"unknown kind {kind}")
            built = build(KINDS[kind], document, kind[1])
            if kind[1] == "DaemonSet":
                wrong += refused(built) + too_much(built)
        except ValueError as error:
            wrong.append(str(error))
    if sorted(kinds) != sorted(KINDS):
        wrong.append(f"it has {kinds}")
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()
