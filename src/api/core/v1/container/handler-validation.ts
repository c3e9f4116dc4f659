/** Rules of the handlers of hooks and probes (upstream: validateHandler, validateLifecycle). */
import {
  forbiddenCause,
  invalidCause,
  notSupportedCause,
  requiredCause,
} from '../../../../apimachinery/field-error.ts';
import { checkPortName, checkPortNumber, nameCauses } from '../../../../apimachinery/names.ts';
import type { StatusCause } from '../../../../apimachinery/status-error.ts';
import type {
  ExecAction,
  GRPCAction,
  HTTPGetAction,
  Lifecycle,
  PodSpec,
  SleepAction,
  TCPSocketAction,
} from '../types.gen.ts';

export interface Handler {
  readonly exec?: ExecAction | undefined;
  readonly httpGet?: HTTPGetAction | undefined;
  readonly tcpSocket?: TCPSocketAction | undefined;
  readonly grpc?: GRPCAction | undefined;
  readonly sleep?: SleepAction | undefined;
}

export function validateLifecycle(
  { postStart, preStop, stopSignal }: Lifecycle,
  { terminationGracePeriodSeconds: graceSeconds, os }: PodSpec,
  path: string,
): StatusCause[] {
  return [
    ...(postStart ? validateHandler(postStart, graceSeconds, `${path}.postStart`) : []),
    ...(preStop ? validateHandler(preStop, graceSeconds, `${path}.preStop`) : []),
    // The available signals depend on the operating system.
    ...(stopSignal !== undefined && !os?.name
      ? [forbiddenCause(`${path}.stopSignal`, 'may not be set for containers with empty `spec.os.name`')]
      : []),
  ];
}

type Check = readonly [kind: string, check: (path: string) => StatusCause[]];

/** Validates that a handler has exactly one type. */
export function validateHandler(
  { exec, httpGet, tcpSocket, grpc, sleep }: Handler,
  graceSeconds: number,
  path: string,
): StatusCause[] {
  const given: readonly Check[] = [
    ...(exec ? [['exec', (at: string) => execCauses(exec, at)] as const] : []),
    ...(httpGet ? [['httpGet', (at: string) => httpCauses(httpGet, at)] as const] : []),
    ...(tcpSocket ? [['tcpSocket', (at: string) => portCauses(tcpSocket.port, `${at}.port`)] as const] : []),
    ...(grpc ? [['grpc', (at: string) => portCauses(grpc.port, `${at}.port`)] as const] : []),
    ...(sleep ? [['sleep', (at: string) => sleepCauses(sleep, graceSeconds, at)] as const] : []),
  ];
  if (given.length === 0) return [requiredCause(path, 'must specify a handler type')];
  return given.flatMap(([kind, check], index) =>
    index === 0
      ? check(`${path}.${kind}`)
      : [forbiddenCause(`${path}.${kind}`, 'may not specify more than 1 handler type')],
  );
}

const execCauses = ({ command = [] }: ExecAction, path: string) =>
  command.length === 0 ? [requiredCause(`${path}.command`)] : [];

const schemes = ['HTTP', 'HTTPS'];
const headerName = /^[-A-Za-z0-9]+$/;
const headerRule =
  "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')";

function httpCauses(
  { path: asked, port, scheme = 'HTTP', httpHeaders = [] }: HTTPGetAction,
  path: string,
): StatusCause[] {
  return [
    ...(asked ? [] : [requiredCause(`${path}.path`)]),
    ...portCauses(port, `${path}.port`),
    ...(schemes.includes(scheme) ? [] : [notSupportedCause(`${path}.scheme`, scheme, schemes)]),
    ...httpHeaders.flatMap(({ name }) =>
      headerName.test(name) ? [] : [invalidCause(`${path}.httpHeaders`, name, headerRule)],
    ),
  ];
}

const portCauses = (port: number | string, path: string): StatusCause[] =>
  typeof port === 'string'
    ? nameCauses(path, port, checkPortName)
    : checkPortNumber(port).map((problem) => invalidCause(path, port, problem));

function sleepCauses({ seconds }: SleepAction, graceSeconds: number, path: string): StatusCause[] {
  if (seconds > 0 && seconds <= graceSeconds) return [];
  const rule = `must be greater than 0 and less than terminationGracePeriodSeconds (${graceSeconds}). Enable AllowPodLifecycleSleepActionZeroValue feature gate for zero sleep.`;
  return [invalidCause(path, seconds, rule)];
}
