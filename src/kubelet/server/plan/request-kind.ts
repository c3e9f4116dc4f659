/** Labels under which a request to the agent's server is counted: few values, whatever clients send. Pure. */

export interface RequestKind extends Readonly<Record<string, string>> {
  readonly long_running: string;
  readonly method: string;
  readonly path: string;
}

const methods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
const paths: ReadonlySet<string> = new Set([
  ...[
    'attach',
    'configz',
    'connect',
    'containerLogs',
    'doctor',
    'exec',
    'healthz',
    'images',
    'logs',
    'metrics',
    'pods',
  ],
  ...['metrics/cadvisor', 'metrics/dns', 'metrics/probes', 'metrics/proxy', 'metrics/resource'],
  ...['portForward', 'pulls', 'runningpods', 'stats'],
]);
/** Requests that last until their client ends them. */
const longRunning: ReadonlySet<string> = new Set(['attach', 'connect', 'exec', 'portForward']);

/** Returns the labels: the path's first part, and two parts for metrics. */
export function requestKind(method: string, path: string): RequestKind {
  const [first = '', second = ''] = path.slice(1).split('/', 3);
  const endpoint = first === 'metrics' && second !== '' ? `${first}/${second}` : first;
  return {
    long_running: String(longRunning.has(endpoint)),
    method: methods.has(method) ? method : 'other',
    path: paths.has(endpoint) ? endpoint : 'other',
  };
}
