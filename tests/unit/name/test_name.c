// SPDX-License-Identifier: GPL-2.0-or-later
/* Container names from cgroup paths. */
#include <cmt/containers.h>
#include <stddef.h>
#include <string.h>

#include "unit.h"

#define ID "4a5f0e6f9c3d2b1a4a5f0e6f9c3d2b1a4a5f0e6f9c3d2b1a4a5f0e6f9c3d2b1a"
#define SHORT "4a5f0e6f9c3d"
#define POD "6f1c6b5e-33c1-4d2e-9d7a-0a1b2c3d4e5f"
#define POD_ "6f1c6b5e_33c1_4d2e_9d7a_0a1b2c3d4e5f"
#define KUBE "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" \
	POD_ ".slice"
#define TASK "0123456789abcdef0123456789abcdef"
#define USER "/user.slice/user-1000.slice/user@1000.service"

static const struct {
	const char *path;
	enum cmt_runtime runtime;
	const char *name, *id, *pod;
} cases[] = {
	{ "", CMT_RUNTIME_NONE, "/", "", "" },
	{ "/", CMT_RUNTIME_NONE, "/", "", "" },
	{ "///", CMT_RUNTIME_NONE, "/", "", "" },
	{ "/init.scope", CMT_RUNTIME_NONE, "init.scope", "", "" },
	/* what would be taken for a row of cmt's own, or for a runtime's */
	{ USER "/(overflow)", CMT_RUNTIME_NONE, "/(overflow)", "", "" },
	{ USER "/docker:web", CMT_RUNTIME_NONE, "/docker:web", "", "" },
	{ "docker:web", CMT_RUNTIME_NONE, "/docker:web", "", "" },
	{ USER "/a(b)", CMT_RUNTIME_NONE, "a(b)", "", "" },
	{ USER "/session.slice", CMT_RUNTIME_NONE, "session.slice", "", "" },
	{ "/user.slice/user-0.slice/session-3.scope", CMT_RUNTIME_NONE,
	  "session-3.scope", "", "" },
	/* docker */
	{ "/docker/" ID, CMT_RUNTIME_DOCKER, SHORT, ID, "" },
	{ "/docker/" ID "/init.scope", CMT_RUNTIME_DOCKER, SHORT, ID, "" },
	{ "/docker/buildkit/abc", CMT_RUNTIME_BUILDKIT, "abc", "", "" },
	{ "/docker/" SHORT, CMT_RUNTIME_DOCKER, SHORT, SHORT, "" },
	{ "/docker/4a5f0e6f9c3", CMT_RUNTIME_NONE, "4a5f0e6f9c3", "", "" },
	{ "/" SHORT, CMT_RUNTIME_NONE, SHORT, "", "" },
	{ "/docker/" ID "0", CMT_RUNTIME_NONE, NULL, "", "" },
	{ "/system.slice/docker-" ID ".scope", CMT_RUNTIME_DOCKER, SHORT, ID,
	  "" },
	{ USER "/app.slice/docker-" ID ".scope", CMT_RUNTIME_DOCKER, SHORT, ID,
	  "" },
	{ "/system.slice/docker-notanid.scope", CMT_RUNTIME_NONE,
	  "docker-notanid.scope", "", "" },
	{ "/system.slice/docker.service", CMT_RUNTIME_SYSTEMD, "docker", "",
	  "" },
	/* nested: the outer container has it */
	{ "/docker/" ID "/docker/ffffffffffffffffffffffffffffffffffffffff"
	  "ffffffffffffffffffffffff", CMT_RUNTIME_DOCKER, SHORT, ID, "" },
	{ "/system.slice/docker-" ID ".scope/system.slice/nginx.service",
	  CMT_RUNTIME_DOCKER, SHORT, ID, "" },
	/* Kubernetes */
	{ KUBE "/cri-containerd-" ID ".scope", CMT_RUNTIME_CONTAINERD, SHORT,
	  ID, POD },
	{ KUBE "/crio-" ID ".scope", CMT_RUNTIME_CRIO, SHORT, ID, POD },
	{ KUBE "/crio-" ID ".scope/container", CMT_RUNTIME_CRIO, SHORT, ID,
	  POD },
	{ KUBE "/crio-conmon-" ID ".scope", CMT_RUNTIME_KUBEPODS,
	  "pod-6f1c6b5e", "", POD },
	{ KUBE "/docker-" ID ".scope", CMT_RUNTIME_DOCKER, SHORT, ID, POD },
	{ KUBE, CMT_RUNTIME_KUBEPODS, "pod-6f1c6b5e", "", POD },
	{ "/kubepods.slice/kubepods-pod" POD_ ".slice/cri-containerd-" ID
	  ".scope", CMT_RUNTIME_CONTAINERD, SHORT, ID, POD },
	{ "/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod"
	  POD_ ".slice/cri-containerd-" ID ".scope", CMT_RUNTIME_CONTAINERD,
	  SHORT, ID, POD },
	{ "/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod" POD_
	  ".slice/cri-containerd-" ID ".scope", CMT_RUNTIME_CONTAINERD, SHORT,
	  ID, POD },
	{ "/kubepods/burstable/pod" POD "/" ID, CMT_RUNTIME_KUBEPODS, SHORT,
	  ID, POD },
	{ "/kubepods/pod" POD "/" ID "/sub", CMT_RUNTIME_KUBEPODS, SHORT, ID,
	  POD },
	{ "/kubepods/besteffort/pod" POD "/crio-" ID, CMT_RUNTIME_CRIO, SHORT,
	  ID, POD },
	{ "/kubepods/burstable", CMT_RUNTIME_NONE, "burstable", "", "" },
	{ "/kubepods.slice", CMT_RUNTIME_NONE, "kubepods.slice", "", "" },
	{ "/system.slice/containerd.service/kubepods-burstable-pod" POD_
	  ".slice:cri-containerd:" ID, CMT_RUNTIME_CONTAINERD, SHORT, ID,
	  POD },
	/* Kata Containers */
	{ "/kubepods/burstable/pod" POD "/kata_" ID, CMT_RUNTIME_KUBEPODS,
	  SHORT, ID, POD },
	{ "/kubepods/pod" POD "/kata_crio-" ID, CMT_RUNTIME_CRIO, SHORT, ID,
	  POD },
	{ KUBE "/cri-containerd-" ID ".scope/sandbox", CMT_RUNTIME_CONTAINERD,
	  SHORT, ID, POD },
	{ "/kubepods-burstable-pod" POD_ ".slice:cri-containerd:" ID,
	  CMT_RUNTIME_CONTAINERD, SHORT, ID, POD },
	{ "/docker/kata_" ID, CMT_RUNTIME_DOCKER, SHORT, ID, "" },
	{ "/default/kata_" ID, CMT_RUNTIME_KUBEPODS, SHORT, ID, "" },
	{ "/kata_sandboxed_pod/" ID "/overhead", CMT_RUNTIME_KUBEPODS, SHORT,
	  ID, "" },
	{ "/kata_overhead/" ID, CMT_RUNTIME_KUBEPODS, SHORT " (overhead)", ID,
	  "" },
	{ "/kata_overhead/" ID "/x", CMT_RUNTIME_KUBEPODS, SHORT " (overhead)",
	  ID, "" },
	{ USER "/kata_overhead/" ID, CMT_RUNTIME_KUBEPODS, SHORT, ID, "" },
	{ "/kata_overhead/abc", CMT_RUNTIME_NONE, "abc", "", "" },
	{ "/kata_abc", CMT_RUNTIME_NONE, "kata_abc", "", "" },
	{ "/kata_crio-abc", CMT_RUNTIME_NONE, "kata_crio-abc", "", "" },
	{ "/kata_overhead", CMT_RUNTIME_NONE, "kata_overhead", "", "" },
	/* podman */
	{ "/machine.slice/libpod-" ID ".scope", CMT_RUNTIME_PODMAN, SHORT, ID,
	  "" },
	{ USER "/user.slice/libpod-" ID ".scope/container", CMT_RUNTIME_PODMAN,
	  SHORT, ID, "" },
	{ "/machine.slice/machine-libpod_pod_" ID ".slice/libpod-" ID ".scope",
	  CMT_RUNTIME_PODMAN, SHORT, ID, "" },
	{ "/machine.slice/libpod-conmon-" ID ".scope", CMT_RUNTIME_NONE, NULL,
	  "", "" },
	{ "/system.slice/web.service/libpod-payload-" ID, CMT_RUNTIME_PODMAN, SHORT, ID,
	  "" },
	{ "/system.slice/web.service/runtime", CMT_RUNTIME_SYSTEMD, "web", "", "" },
	/* LXC */
	{ "/lxc.payload.web/system.slice/ssh.service", CMT_RUNTIME_LXC, "web",
	  "", "" },
	{ "/lxc/db", CMT_RUNTIME_LXC, "db", "", "" },
	{ "/lxc.payload/old", CMT_RUNTIME_LXC, "old", "", "" },
	{ "/lxc.monitor.web", CMT_RUNTIME_NONE, "lxc.monitor.web", "", "" },
	{ "/lxc", CMT_RUNTIME_NONE, "lxc", "", "" },
	/* nspawn and libvirt */
	{ "/machine.slice/systemd-nspawn@deb\\x2d12.service/payload",
	  CMT_RUNTIME_NSPAWN, "deb-12", "", "" },
	{ "/machine.slice/machine-box.scope", CMT_RUNTIME_NSPAWN, "box", "",
	  "" },
	{ "/machine.slice/machine-qemu\\x2d12\\x2dweb\\x2d01.scope/libvirt",
	  CMT_RUNTIME_LIBVIRT, "web-01", "", "" },
	{ "/machine.slice/machine-lxc\\x2d7\\x2dbox.scope",
	  CMT_RUNTIME_LIBVIRT, "box", "", "" },
	/* a number is digits alone: not '/' and ':', the characters beside them */
	{ "/machine/qemu-0123456789-web.libvirt-qemu", CMT_RUNTIME_LIBVIRT, "web", "", "" },
	{ "/machine.slice/machine-qemu\\x2d1\\x2f2\\x2dweb.scope", CMT_RUNTIME_NSPAWN,
	  "qemu-1/2-web", "", "" },
	{ "/machine.slice/machine-qemu\\x2d1:2\\x2dweb.scope", CMT_RUNTIME_NSPAWN,
	  "qemu-1:2-web", "", "" },
	{ "/machine.slice/machine-qemu\\x2d1\\x2d.scope", CMT_RUNTIME_NSPAWN,
	  "qemu-1-", "", "" },
	{ "/machine.slice/machine-qemu\\x2dweb.scope", CMT_RUNTIME_NSPAWN,
	  "qemu-web", "", "" },
	{ "/machine/qemu-1-web.libvirt-qemu/emulator", CMT_RUNTIME_LIBVIRT,
	  "web", "", "" },
	{ "/machine.slice/machine-\\x1b\\x5b2J.scope", CMT_RUNTIME_NSPAWN,
	  "?[2J", "", "" },
	{ "/machine.slice/machine-a\\xzz\\x2.scope", CMT_RUNTIME_NSPAWN,
	  "a\\xzz\\x2", "", "" },
	{ "/machine.slice/machine-.scope", CMT_RUNTIME_NONE, "machine-.scope",
	  "", "" },
	/* Slurm */
	{ "/system.slice/slurmstepd.scope/job_1234/step_0/user/task_0", CMT_RUNTIME_SLURM,
	  "job 1234", "", "" },
	{ "/system.slice/node7_slurmstepd.scope/job_1234", CMT_RUNTIME_SLURM, "job 1234", "", "" },
	{ "/slurm/uid_1000/job_1234/step_0", CMT_RUNTIME_SLURM, "job 1234", "", "" },
	{ "/slurm_node7/uid_0/job_5", CMT_RUNTIME_SLURM, "job 5", "", "" },
	{ "/system.slice/slurmstepd.scope/system", CMT_RUNTIME_NONE, "system", "", "" },
	{ "/slurm/job_5", CMT_RUNTIME_NONE, "job_5", "", "" },
	{ "/uid_0/job_5", CMT_RUNTIME_NONE, "job_5", "", "" },
	/* Nomad */
	{ "/nomad.slice/share.slice/" POD ".redis.scope", CMT_RUNTIME_NOMAD, "6f1c6b5e/redis",
	  "", "" },
	{ "/nomad.slice/reserve.slice/" POD ".a.b.scope/x", CMT_RUNTIME_NOMAD, "6f1c6b5e/a.b",
	  "", "" },
	{ "/nomad.slice/share.slice/docker-" ID ".scope", CMT_RUNTIME_DOCKER, SHORT, ID, "" },
	{ "/nomad.slice/share.slice/" POD ".scope", CMT_RUNTIME_NONE, POD ".scope", "", "" },
	{ "/nomad.slice/" POD ".redis.scope", CMT_RUNTIME_NONE, POD ".redis.scope", "", "" },
	/* Proxmox */
	{ "/qemu.slice/101.scope", CMT_RUNTIME_PROXMOX, "101", "", "" },
	{ "/qemu.slice/.scope", CMT_RUNTIME_NONE, ".scope", "", "" },
	{ "/lxc/101/ns", CMT_RUNTIME_LXC, "101", "", "" },
	/* Amazon ECS */
	{ "/ecs/" TASK "/" TASK "-265927825", CMT_RUNTIME_ECS, "0123456789ab-265927825", "", "" },
	{ "/ecs/" TASK "/" ID, CMT_RUNTIME_DOCKER, SHORT, ID, "" },
	{ "/ecstasks.slice/ecstasks-" TASK ".slice/docker-" ID ".scope", CMT_RUNTIME_DOCKER,
	  SHORT, ID, "" },
	{ "/ecs/" TASK "/x-1", CMT_RUNTIME_NONE, "x-1", "", "" },
	/* containerd's namespaces */
	{ "/default/nginx", CMT_RUNTIME_CONTAINERD, "nginx", "", "" },
	{ "/default/" ID "/x", CMT_RUNTIME_CONTAINERD, SHORT, ID, "" },
	{ "/k8s.io/" ID, CMT_RUNTIME_CONTAINERD, SHORT, ID, "" },
	{ "/k8s.io/nginx", CMT_RUNTIME_NONE, "nginx", "", "" },
	{ "/a/default/nginx", CMT_RUNTIME_NONE, "nginx", "", "" },
	/* Cloud Foundry */
	{ "/garden/" POD, CMT_RUNTIME_GARDEN, POD, "", "" },
	{ "/garden/good/" POD "/x", CMT_RUNTIME_GARDEN, POD, "", "" },
	{ "/garden/bad/" POD, CMT_RUNTIME_GARDEN, POD, "", "" },
	{ "/garden/init", CMT_RUNTIME_NONE, "init", "", "" },
	{ "/garden/good", CMT_RUNTIME_NONE, "good", "", "" },
	{ "/a/garden/" POD, CMT_RUNTIME_NONE, POD, "", "" },
	/* BuildKit */
	{ "/buildkit/x1yz2kq0l3m4n5o6p7r8s9t0u", CMT_RUNTIME_BUILDKIT,
	  "x1yz2kq0l3m4n5o6p7r8s9t0u", "", "" },
	{ "/a/docker/buildkit/abc", CMT_RUNTIME_NONE, "abc", "", "" },
	/* any other runtime */
	{ "/actions_job/" ID "/x", CMT_RUNTIME_OCI, SHORT, ID, "" },
	{ "/" ID, CMT_RUNTIME_OCI, SHORT, ID, "" },
	{ "/actions_job/" SHORT, CMT_RUNTIME_NONE, SHORT, "", "" },
	{ "/libpod_parent/" ID, CMT_RUNTIME_NONE, NULL, "", "" },
	{ "/libpod_parent/" ID "/libpod-" ID, CMT_RUNTIME_PODMAN, SHORT, ID, "" },
	/* services */
	{ "/system.slice/nginx.service", CMT_RUNTIME_SYSTEMD, "nginx", "",
	  "" },
	{ "/system.slice/system-getty.slice/getty@tty1.service",
	  CMT_RUNTIME_SYSTEMD, "getty@tty1", "", "" },
	{ "/system.slice/x.service/worker/1", CMT_RUNTIME_SYSTEMD, "x", "",
	  "" },
	{ "/work.slice/batch.service", CMT_RUNTIME_SYSTEMD, "batch", "", "" },
	{ "/system.slice/.service", CMT_RUNTIME_NONE, ".service", "", "" },
	{ "/foo/bar.service", CMT_RUNTIME_NONE, "bar.service", "", "" },
	/* bytes */
	{ "/a\001b\033[31m\177\200\377", CMT_RUNTIME_NONE, "a?b?[31m???", "",
	  "" },
};

START_TEST(test_name_table)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cmt_container c;

		memset(&c, 0x5a, sizeof(c));
		c.sz = sizeof(c);
		cmt_container_name(cases[i].path, &c);
		ck_assert_msg(c.runtime == cases[i].runtime, "%s: runtime %d",
			      cases[i].path, c.runtime);
		ck_assert_msg(!cases[i].name || !strcmp(c.name, cases[i].name),
			      "%s: name %s", cases[i].path, c.name);
		ck_assert_msg(!strcmp(c.id, cases[i].id), "%s: id %s",
			      cases[i].path, c.id);
		ck_assert_msg(!strcmp(c.pod, cases[i].pod), "%s: pod %s",
			      cases[i].path, c.pod);
	}
}
END_TEST

START_TEST(test_name_touches_nothing_else)
{
	struct cmt_container c = { .sz = sizeof(c), .cgroup_id = 17, .path = "x" };

	cmt_container_name("/docker/" ID, &c);
	ck_assert_uint_eq(c.cgroup_id, 17);
	ck_assert_str_eq(c.path, "x");
}
END_TEST

/* What is the container's own path, and whose slice it is in. */
START_TEST(test_name_own_path)
{
	static const struct {
		const char *path;
		uint32_t own_len, flags, uid;
	} owns[] = {
		{ "", 0, 0, 0 },
		{ "/", 1, 0, 0 },
		{ "/docker/" ID, 72, 0, 0 },
		{ "/docker/" ID "/", 72, 0, 0 },
		{ "/docker/" ID "/docker-" SHORT ".scope", 72, 0, 0 },
		{ "/system.slice/ssh.service/a/b", 25, 0, 0 },
		{ "/lxc.payload.a/init.scope", 14, 0, 0 },
		{ "/kubepods/pod" POD, 49, 0, 0 },
		{ "/a/b/c", 6, 0, 0 },
		{ "/user.slice/user-1000.slice/docker-" SHORT ".scope/x", 53,
		  CMT_CONTAINER_OF_USER, 1000 },
		{ "/kata_overhead/" ID "/x", 79, CMT_CONTAINER_OVERHEAD, 0 },
		{ "/kata_overhead/x", 16, 0, 0 },
		{ "/x/kata_overhead/" ID, 81, 0, 0 },
		{ "/user.slice/user-1000.slice/kata_overhead/" SHORT, 54,
		  CMT_CONTAINER_OF_USER, 1000 },
		{ "/user.slice/user-7.slice", 24, CMT_CONTAINER_OF_USER, 7 },
		{ "/user.slice/user-0.slice/a", 26, CMT_CONTAINER_OF_USER, 0 },
		{ "/user.slice/user-7.slicex/a", 27, 0, 0 },
		{ "/user.slice/user--7.slice/a", 27, 0, 0 },
		{ "/user.slice/user-4294967295.slice/a", 35, 0, 0 },
		{ "/a/user.slice/user-7.slice/a", 28, 0, 0 },
	};

	for (size_t i = 0; i < sizeof(owns) / sizeof(owns[0]); i++) {
		struct cmt_container c;

		memset(&c, 0x5a, sizeof(c));
		c.sz = sizeof(c);
		cmt_container_name(owns[i].path, &c);
		ck_assert_msg(c.own_len == owns[i].own_len, "%s: %u bytes",
			      owns[i].path, c.own_len);
		ck_assert_msg(c.flags == owns[i].flags && c.uid == owns[i].uid,
			      "%s: flags %#x, user %u", owns[i].path, c.flags,
			      c.uid);
	}
}
END_TEST

/* A program of a version that had fewer members */
START_TEST(test_name_of_smaller_structure)
{
	struct cmt_container c;

	memset(&c, 0x5a, sizeof(c));
	c.sz = offsetof(struct cmt_container, flags);
	cmt_container_name("/user.slice/user-7.slice/docker-" ID ".scope", &c);
	ck_assert_int_eq(c.runtime, CMT_RUNTIME_DOCKER);
	ck_assert_uint_eq(c.sz, offsetof(struct cmt_container, flags));
	ck_assert_uint_eq(c.flags, 0x5a5a5a5a);
	ck_assert_uint_eq(c.uid, 0x5a5a5a5a);
}
END_TEST

START_TEST(test_name_truncated)
{
	struct cmt_container c = { .sz = sizeof(c) };
	char path[600];

	memset(path, 'y', sizeof(path));
	path[0] = '/';
	path[sizeof(path) - 1] = '\0';
	cmt_container_name(path, &c);
	ck_assert_uint_eq(strlen(c.name), CMT_CONTAINER_NAME_LEN - 1);
	memcpy(path, "/machine.slice/machine-", 23);
	memcpy(path + sizeof(path) - 7, ".scope", 6);
	cmt_container_name(path, &c);
	ck_assert_int_eq(c.runtime, CMT_RUNTIME_NSPAWN);
	ck_assert_uint_eq(strlen(c.name), CMT_CONTAINER_NAME_LEN - 1);
	memset(path, 'y', sizeof(path) - 1);
	memcpy(path, "/kubepods/pod", 13);
	cmt_container_name(path, &c);
	ck_assert_uint_eq(strlen(c.pod), sizeof(c.pod) - 1);
}
END_TEST

/* Pieces that mean something, thrown together. */
START_TEST(test_name_random_pieces)
{
	static const char *const pieces[] = {
		"/", "docker", "docker-", ID, ".scope", "kubepods", "-pod",
		"pod", ".slice", ":cri-containerd:", "machine-", "qemu-",
		"\\x2d", "\\x", "1", "-", "lxc", "lxc.payload.",
		"systemd-nspawn@", ".service", "user@", ".libvirt-qemu",
		"slurmstepd.scope", "slurm", "uid_", "job_", "nomad.slice", "qemu.slice",
		"ecs", "default", "k8s.io", "garden", "good", "buildkit", ".",
	};
	const size_t n = sizeof(pieces) / sizeof(pieces[0]);
	unsigned int seed = 11;

	for (int i = 0; i < 20000; i++) {
		struct cmt_container c;
		char path[2048] = "";

		for (int k = rand_r(&seed) % 12; k > 0; k--)
			strcat(path, pieces[(size_t)rand_r(&seed) % n]);
		memset(&c, 0x5a, sizeof(c));
		c.sz = sizeof(c);
		cmt_container_name(path, &c);
		ck_assert_uint_lt(strnlen(c.name, sizeof(c.name)),
				  sizeof(c.name));
		ck_assert_uint_gt(strlen(c.name), 0);
		ck_assert_uint_le(c.own_len, strlen(path));
		ck_assert_uint_lt(strnlen(c.id, sizeof(c.id)), sizeof(c.id));
		ck_assert_uint_lt(strnlen(c.pod, sizeof(c.pod)),
				  sizeof(c.pod));
	}
}
END_TEST

START_TEST(test_runtime_names)
{
	ck_assert_str_eq(cmt_runtime_name(CMT_RUNTIME_NONE), "");
	ck_assert_str_eq(cmt_runtime_name(CMT_RUNTIME_PODMAN), "podman");
	ck_assert_str_eq(cmt_runtime_name(CMT_RUNTIME_SYSTEMD), "systemd");
	ck_assert_str_eq(cmt_runtime_name(CMT_RUNTIME_OCI), "oci");
	ck_assert_str_eq(cmt_runtime_name(CMT_RUNTIME_OCI + 1), "");
	ck_assert_str_eq(cmt_runtime_name((enum cmt_runtime)99), "");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("name");

	UNIT_CASE(suite, test_name_table);
	UNIT_CASE(suite, test_name_touches_nothing_else);
	UNIT_CASE(suite, test_name_own_path);
	UNIT_CASE(suite, test_name_of_smaller_structure);
	UNIT_CASE(suite, test_name_truncated);
	UNIT_CASE(suite, test_name_random_pieces);
	UNIT_CASE(suite, test_runtime_names);
	return unit_run(suite);
}
