/**
 * The subjects under which --help of ctl lists flags: those of flags that several verbs have with one meaning.
 * A verb gives a flag another subject by `under` (flags.ts); any other flag is listed under "Flags".
 */
import type { FlagDefinition } from './flags.ts';

const subjects: Readonly<Record<string, readonly string[]>> = {
  'Which objects': [
    'filename',
    'workflow-lines',
    'recursive',
    'selector',
    'field-selector',
    'types',
    'all-namespaces',
    'all',
    'subresource',
    'pod-selector',
    'container',
    'all-containers',
    'all-pods',
    'all-nodes',
    'node',
    'ignore-not-found',
    'list',
    'chunk-size',
    'raw',
    'api-group',
    'api-version',
    'namespaced',
  ],
  'The pod to run': [
    'image',
    'image-pull-policy',
    'env',
    'port',
    'labels',
    'annotations',
    'restart',
    'privileged',
    'command',
    'rm',
  ],
  'What to create': [
    'verb',
    'resource',
    'resource-name',
    'non-resource-url',
    'aggregation-rule',
    'clusterrole',
    'serviceaccount',
    'hard',
    'scopes',
    'min-available',
    'max-unavailable',
    'value',
    'global-default',
    'preemption-policy',
    'from-literal',
    'from-file',
    'from-env-file',
    'append-hash',
    'cert',
    'key',
    'docker-server',
    'docker-username',
    'docker-password',
    'docker-email',
    'tcp',
    'clusterip',
    'target-port',
    'protocol',
    'cluster-ip',
    'external-ip',
    'load-balancer-ip',
    'session-affinity',
    'node-port',
    'external-name',
    'class',
    'rule',
    'default-backend',
    'annotation',
  ],
  'What to change': [
    'limits',
    'requests',
    'keys',
    'replicas',
    'current-replicas',
    'min',
    'max',
    'cpu-percent',
    'name',
    'revision',
    'to-revision',
    'patch',
    'patch-file',
    'type',
    'overwrite',
    'remove-extra-permissions',
    'remove-extra-subjects',
    'no-preserve',
    'retries',
  ],
  Writing: ['server-side', 'force-conflicts', 'save-config', 'field-manager', 'validate', 'dry-run'],
  'Streams and connections': ['stdin', 'tty', 'attach', 'leave-stdin-open', 'address', 'pod-running-timeout'],
  'Which lines': ['previous', 'since', 'since-time', 'tail', 'limit-bytes', 'max-log-requests'],
  Waiting: ['follow', 'for', 'timeout', 'wait', 'wait-timeout', 'watch', 'watch-only'],
  Output: [
    'output',
    'template',
    'allow-missing-template-keys',
    'no-headers',
    'name-only',
    'show-labels',
    'label-columns',
    'show-kind',
    'show-managed-fields',
    'show-events',
    'server-print',
    'sort-by',
    'containers',
    'sum',
    'prefix',
    'timestamps',
    'quiet',
    'json',
    'color',
  ],
  'This machine': ['data-dir', 'docker-socket', 'fix'],
  Connection: [
    'kubeconfig',
    'context',
    'cluster',
    'user',
    'namespace',
    'secret',
    'server',
    'token',
    'client-certificate',
    'client-key',
    'certificate-authority',
    'insecure-skip-tls-verify',
    'tls-server-name',
    'as',
    'as-group',
    'as-uid',
    'request-timeout',
    'cache-dir',
    'v',
  ],
};

const headings = new Map(
  Object.entries(subjects).flatMap(([heading, names]) => names.map((name) => [name, heading] as const)),
);
const places = new Map([...headings.keys()].map((name, index) => [name, index]));

/** Returns the heading of a flag of a verb. */
export const headingOf = (name: string, { subject }: Pick<FlagDefinition, 'subject'>): string =>
  subject ?? headings.get(name) ?? 'Flags';

/** Returns the flags with their headings: the verb's own subjects first, then the shared ones in their order. */
export function byHeading(
  flags: Readonly<Record<string, FlagDefinition>>,
): { readonly name: string; readonly heading: string }[] {
  const shared = Object.keys(subjects);
  const all = Object.entries(flags).map(([name, definition]) => ({
    name,
    heading: headingOf(name, definition),
  }));
  // The position of an own subject is -1, so that it comes before the shared ones.
  return all.toSorted(
    (a, b) =>
      shared.indexOf(a.heading) - shared.indexOf(b.heading) ||
      (places.get(a.name) ?? 0) - (places.get(b.name) ?? 0),
  );
}
