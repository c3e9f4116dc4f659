import assert from 'node:assert/strict';
import { test } from 'node:test';
import { containersKilled, processKilled } from '../../../../../src/kubelet/runtime/plan/oom-record.ts';

const one = '619c65ae55f8b287c0db45847f545f3d041854f25c867876994b6bc04751c6b4';
const two = '35508f03e28d22c7689295d333436c0775ae328294642b4e0189d4827a2dfff2';
const kill = (group: string, { priority = '6', constraint = 'CONSTRAINT_MEMCG', cpuset = one } = {}) =>
  `${priority},900,5000,-;oom-kill:constraint=${constraint},nodemask=(null),cpuset=${cpuset},mems_allowed=0,` +
  `oom_memcg=${group},task_memcg=${group},task=dd,pid=5095,uid=0\n`;

for (const [name, record, containers] of [
  ['of the cgroupfs driver', kill(`/docker/${one}`), [one]],
  ['of the systemd driver', kill(`/system.slice/docker-${one}.scope`), [one]],
  ['of a cgroup that a program made in the container', kill(`/docker/${one}/worker`), [one]],
  ['of a container in a container', kill(`/docker/${one}/docker/${two}`), [one, two]],
  [
    'for the memory of the machine',
    `6,900,5000,-;oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=${two},mems_allowed=0,` +
      `global_oom,task_memcg=/docker/${one},task=dd,pid=5095,uid=0\n`,
    [one],
  ],
  ['of no container', kill('/user.slice/session-1.scope'), []],
  ['of a cgroup with a longer name', kill(`/docker/${one}0`), []],
  ['that a program wrote', kill(`/docker/${one}`, { priority: '14' }), []],
] as const)
  test(`a record of a kill ${name} names ${containers.length} containers`, () => {
    assert.deepEqual(containersKilled(record), containers);
  });

test('other records name no container', () => {
  for (const text of [
    '',
    'text',
    '6,1,2,-;Memory cgroup out of memory: Killed process 5095 (dd)',
    `6,1,2,-;task_memcg=/docker/${one}`,
    `6,1,2,-;oom-kill:task=x\n TEXT=,task_memcg=/docker/${one}`,
    `-1,1,2,-;oom-kill:,task_memcg=/docker/${one}`,
  ])
    assert.deepEqual(containersKilled(text), [], text);
});

for (const [name, record, pid] of [
  [
    'for the memory of a cgroup',
    '3,1,2,-;Memory cgroup out of memory: Killed process 71 (dd) total-vm:1kB',
    71,
  ],
  ['for the memory of the machine', '3,1,2,-;Out of memory: Killed process 72 (a (b)) total-vm:1kB', 72],
  ['that a program wrote', '11,1,2,-;Out of memory: Killed process 72 (dd) total-vm:1kB', undefined],
  ['in the middle of a text', '3,1,2,-;x: Out of memory: Killed process 72 (dd)', undefined],
  ['that only resembles one', '3,1,2,-;oom_reaper: reaped process 71 (dd), now anon-rss:0kB', undefined],
] as const)
  test(`a record of a kill ${name} names ${pid === undefined ? 'no process' : `process ${pid}`}`, () => {
    assert.equal(processKilled(record), pid);
  });
