/** Validation of init containers and lifecycle hooks. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podResource } from '../../../../../../src/api/core/v1/pod/pod.ts';
import { created, merge, testCreate } from '../../../../../fixtures/kinds.ts';
import { c0, container, pod, spec } from '../../../pod-fixture.ts';

const one = { name: 'one', image: 'a:1' };
const init = (...list: readonly object[]) => spec({ initContainers: list });
const i0 = 'spec.initContainers[0]';
const notOfSteps = 'Forbidden: may not be set for init containers without restartPolicy=Always';
const probe = { tcpSocket: { port: 80 } };

testCreate(podResource, pod, [
  ['an init container', init(one)],
  [
    'a sidecar with a hook',
    init({ ...one, restartPolicy: 'Always', lifecycle: { preStop: { sleep: { seconds: 3 } } } }),
  ],
  [
    'one host port of two successive init containers',
    init(
      { ...one, ports: [{ containerPort: 80, hostPort: 80 }] },
      { ...one, name: 'two', ports: [{ containerPort: 80, hostPort: 80 }] },
    ),
  ],
  ['an init container without a name', init({ image: 'a:1' }), `${i0}.name: Required value`],
  ['an init container without an image', init({ name: 'one' }), `${i0}.image: Required value`],
  [
    'an init container with the name of another container',
    init({ ...one, name: 'web' }),
    `${i0}.name: Duplicate value: "web"`,
  ],
  [
    'a port out of range beside a valid resize policy',
    init({
      ...one,
      resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'NotRequired' }],
      ports: [{ containerPort: 80, hostPort: 70000 }],
    }),
    `${i0}.ports[0].hostPort: Invalid value: 70000`,
  ],
  ['two init containers of one name', init(one, one), 'spec.initContainers[1].name: Duplicate value: "one"'],
  [
    'another policy',
    init({ ...one, restartPolicy: 'Never' }),
    `${i0}.restartPolicy: Unsupported value: "Never": supported values: "Always"`,
  ],
  [
    'an unknown restart policy',
    container({ restartPolicy: 'Always' }),
    `${c0}.restartPolicy: Forbidden: may not be set for non-init containers`,
  ],
  [
    'probes and hooks of an init container that is not a sidecar',
    init({ ...one, lifecycle: {}, livenessProbe: probe, readinessProbe: probe, startupProbe: probe }),
    `${i0}.lifecycle: ${notOfSteps}`,
    `${i0}.livenessProbe: ${notOfSteps}`,
    `${i0}.readinessProbe: ${notOfSteps}`,
    `${i0}.startupProbe: ${notOfSteps}`,
  ],
  [
    'invalid fields that other containers have too',
    init({ ...one, ports: [{ containerPort: 70000 }], volumeMounts: [{ name: 'none', mountPath: '/a' }] }),
    `${i0}.ports[0].containerPort: Invalid value: 70000`,
    `${i0}.volumeMounts[0].name: Not found: "none"`,
  ],
  [
    'hooks of each kind',
    container({
      lifecycle: {
        postStart: { exec: { command: ['true'] } },
        preStop: { httpGet: { path: '/bye', port: 'http', scheme: 'HTTPS' } },
      },
    }),
  ],
  ['a hook of type tcpSocket', container({ lifecycle: { postStart: { tcpSocket: { port: 1 } } } })],
  [
    'a hook without a type',
    container({ lifecycle: { postStart: {} } }),
    `${c0}.lifecycle.postStart: Required value: must specify a handler type`,
  ],
  [
    'a hook of two types',
    container({ lifecycle: { preStop: { exec: { command: ['a'] }, httpGet: { port: 1 } } } }),
    `${c0}.lifecycle.preStop.httpGet: Forbidden: may not specify more than 1 handler type`,
  ],
  [
    'a hook without a command',
    container({ lifecycle: { preStop: { exec: {} } } }),
    `${c0}.lifecycle.preStop.exec.command: Required value`,
  ],
  [
    'an HTTP hook with an invalid request',
    container({
      lifecycle: { preStop: { httpGet: { port: 'no port', httpHeaders: [{ name: 'a b', value: 'c' }] } } },
    }),
    `${c0}.lifecycle.preStop.httpGet.port: Invalid value: "no port"`,
    `${c0}.lifecycle.preStop.httpGet.httpHeaders: Invalid value: "a b": a valid HTTP header must consist`,
  ],
  [
    'a sleep longer than the grace period',
    container({ lifecycle: { preStop: { sleep: { seconds: 31 } }, postStart: { sleep: { seconds: 0 } } } }),
    `${c0}.lifecycle.postStart.sleep: Invalid value: 0: must be greater than 0 and less than terminationGracePeriodSeconds (30)`,
    `${c0}.lifecycle.preStop.sleep: Invalid value: 31: must be greater than 0`,
  ],
  [
    'a stop signal without the operating system',
    container({ lifecycle: { stopSignal: 'SIGUSR1' } }),
    `${c0}.lifecycle.stopSignal: Forbidden: may not be set for containers with empty \`spec.os.name\``,
  ],
  [
    'a signal',
    spec({
      os: { name: 'linux' },
      containers: [{ name: 'web', image: 'a', lifecycle: { stopSignal: 'SIGUSR1' } }],
    }),
  ],
]);

test('only the image of an init container may change', () => {
  const old = created(podResource, merge(pod, spec({ initContainers: [one] })));
  const changed = (list: object[]) => {
    const next = created(podResource, merge(pod, spec({ initContainers: list })));
    return (podResource.strategy.validateUpdate?.(next, old) ?? []).map(({ message }) => message);
  };
  assert.deepEqual(changed([{ ...one, image: 'a:2' }]), []);
  assert.match(changed([{ ...one, command: ['a'] }]).join(), /pod updates may not change fields/);
  assert.deepEqual(changed([]), ['Forbidden: pod updates may not add or remove containers']);
});
