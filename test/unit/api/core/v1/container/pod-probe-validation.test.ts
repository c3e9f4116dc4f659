import { podResource } from '../../../../../../src/api/core/v1/pod/pod.ts';
import { testCreate } from '../../../../../fixtures/kinds.ts';
import { c0, container, pod } from '../../../pod-fixture.ts';

const tcp = { tcpSocket: { port: 80 } };
const live = `${c0}.livenessProbe`;
const ready = `${c0}.readinessProbe`;
const up = `${c0}.startupProbe`;
const notNegative = 'must be greater than or equal to 0';

testCreate(podResource, pod, [
  ['all kinds of probes', container({ livenessProbe: tcp, readinessProbe: tcp, startupProbe: tcp })],
  ['a command', container({ livenessProbe: { exec: { command: ['true'] } } })],
  [
    'a request',
    container({ livenessProbe: { httpGet: { port: 'web', httpHeaders: [{ name: 'X-A', value: '' }] } } }),
  ],
  ['gRPC', container({ livenessProbe: { grpc: { port: 1, service: 'a' } } })],
  ['a grace period of its own', container({ startupProbe: { ...tcp, terminationGracePeriodSeconds: 1 } })],
  [
    'a success threshold of readiness above 1',
    container({ readinessProbe: { ...tcp, successThreshold: 5 } }),
  ],
  [
    'a probe without a type',
    container({ livenessProbe: {}, readinessProbe: {}, startupProbe: {} }),
    ...[live, ready, up].map((path) => `${path}: Required value: must specify a handler type`),
  ],
  [
    'a probe of two types',
    container({ livenessProbe: { ...tcp, exec: { command: ['true'] } } }),
    `${live}.tcpSocket: Forbidden: may not specify more than 1 handler type`,
  ],
  [
    'no command',
    container({ livenessProbe: { exec: { command: [] } }, readinessProbe: { exec: {} } }),
    `${live}.exec.command: Required value`,
    `${ready}.exec.command: Required value`,
  ],
  [
    'ports',
    container({
      livenessProbe: { tcpSocket: { port: 65536 } },
      readinessProbe: { httpGet: { port: 'not-a-valid-port' } },
      startupProbe: { grpc: { port: 0 } },
    }),
    `${live}.tcpSocket.port: Invalid value: 65536: must be between 1 and 65535, inclusive`,
    `${ready}.httpGet.port: Invalid value: "not-a-valid-port": must be no more than 15 characters`,
    `${up}.grpc.port: Invalid value: 0: must be between 1 and 65535, inclusive`,
  ],
  [
    'scheme',
    container({ livenessProbe: { httpGet: { port: 1, scheme: 'http' } } }),
    `${live}.httpGet.scheme: Unsupported value: "http": supported values: "HTTP", "HTTPS"`,
  ],
  [
    'a header',
    container({ livenessProbe: { httpGet: { port: 1, httpHeaders: [{ name: 'X Y', value: '' }] } } }),
    `${live}.httpGet.httpHeaders: Invalid value: "X Y": a valid HTTP header must consist of`,
  ],
  [
    'negative numbers',
    container({
      readinessProbe: {
        ...tcp,
        initialDelaySeconds: -1,
        timeoutSeconds: -2,
        periodSeconds: -3,
        successThreshold: -4,
        failureThreshold: -5,
      },
    }),
    `${ready}.initialDelaySeconds: Invalid value: -1: ${notNegative}`,
    `${ready}.timeoutSeconds: Invalid value: -2: ${notNegative}`,
    `${ready}.periodSeconds: Invalid value: -3: ${notNegative}`,
    `${ready}.successThreshold: Invalid value: -4: ${notNegative}`,
    `${ready}.failureThreshold: Invalid value: -5: ${notNegative}`,
  ],
  [
    'a success threshold of liveness and startup above 1',
    container({
      livenessProbe: { ...tcp, successThreshold: 2 },
      startupProbe: { ...tcp, successThreshold: 2 },
    }),
    `${live}.successThreshold: Invalid value: 2: must be 1`,
    `${up}.successThreshold: Invalid value: 2: must be 1`,
  ],
  [
    'a grace period of a readiness probe',
    container({ readinessProbe: { ...tcp, terminationGracePeriodSeconds: 1 } }),
    `${ready}.terminationGracePeriodSeconds: Invalid value: 1: must not be set for readinessProbes`,
  ],
  [
    'a grace period of 0',
    container({
      livenessProbe: { ...tcp, terminationGracePeriodSeconds: 0 },
      startupProbe: { ...tcp, terminationGracePeriodSeconds: -1 },
    }),
    `${live}.terminationGracePeriodSeconds: Invalid value: 0: must be greater than 0`,
    `${up}.terminationGracePeriodSeconds: Invalid value: -1: must be greater than 0`,
  ],
]);
