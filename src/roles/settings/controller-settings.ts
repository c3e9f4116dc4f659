/** Settings of controllers and of the scheduler. */
import { share } from '../../base/tracing/share.ts';
import { parseScoringStrategy, type ScoringStrategy } from '../../scheduler/scoring-strategy.ts';
import { define } from '../../settings/definition.ts';
import { duration } from '../../settings/duration.ts';
import { oneOf, text, wholeNumber } from '../../settings/readers.ts';

export const controllerSettings = define({
  'node-approval': {
    about: 'auto: a machine with a valid token joins at once; manual: it waits for minik8s ctl add node',
    hint: 'auto|manual',
    default: 'auto',
    read: oneOf('auto', 'manual'),
    subject: 'Nodes and scheduling',
    parts: ['control plane'],
  },
  'node-monitor-grace-period': {
    about: 'time without heartbeats after which a node is Unknown and its pods leave Services; at least 5s',
    hint: 'DURATION',
    default: '40s',
    read: duration('5s', '1h'),
    subject: 'Nodes and scheduling',
    parts: ['control plane'],
  },
  'default-not-ready-toleration-seconds': {
    about: 'default toleration of pods for a node that is not ready',
    hint: 'SECONDS',
    default: '300',
    read: wholeNumber(0, 86400),
    subject: 'Nodes and scheduling',
    parts: ['control plane'],
  },
  'default-unreachable-toleration-seconds': {
    about: 'default toleration of pods for an unreachable node',
    hint: 'SECONDS',
    default: '300',
    read: wholeNumber(0, 86400),
    subject: 'Nodes and scheduling',
    parts: ['control plane'],
  },
  'scheduling-policy': {
    about: 'scheduling policy: Default, RoundRobin, Random, LeastPod, LeastCpu or LeastMem',
    hint: 'POLICY',
    default: 'Default',
    read: oneOf('Default', 'RoundRobin', 'Random', 'LeastPod', 'LeastCpu', 'LeastMem'),
    subject: 'Nodes and scheduling',
    parts: ['control plane'],
  },
  'scoring-strategy': {
    about:
      'scoring of the Default policy: LeastAllocated, MostAllocated, or RequestedToCapacityRatio=0:10,100:0 (percent allocated:score from 0 to 10)',
    hint: 'STRATEGY',
    default: 'LeastAllocated',
    read: scoringStrategy,
    subject: 'Nodes and scheduling',
    parts: ['control plane'],
  },
  'hpa-sync-period': {
    about: 'sync period of HorizontalPodAutoscalers; an annotation sets another one for a single object',
    hint: 'DURATION',
    default: '15s',
    read: duration('1s', '1h'),
    subject: 'Scaling by load',
    parts: ['control plane'],
  },
  'hpa-tolerance': {
    about: 'minimum deviation from the target ratio before a HorizontalPodAutoscaler scales, such as 0.1',
    hint: 'SHARE',
    default: '0.1',
    read: share,
    subject: 'Scaling by load',
    parts: ['control plane'],
  },
  'prometheus-url': {
    about: 'Prometheus with the custom and external metrics of HorizontalPodAutoscalers',
    hint: 'URL',
    usual: 'none: such metrics are not available',
    read: serverUrl,
    subject: 'Scaling by load',
    parts: ['control plane'],
  },
  'prometheus-ca': {
    about: 'CA certificate that verifies the Prometheus',
    hint: 'FILE',
    usual: "the system's",
    read: text,
    subject: 'Scaling by load',
    parts: ['control plane'],
  },
  'prometheus-token-file': {
    about: 'bearer token for the Prometheus; read again for each query',
    hint: 'FILE',
    usual: 'none',
    read: text,
    subject: 'Scaling by load',
    parts: ['control plane'],
  },
  'prometheus-queries': {
    about: 'custom queries for metrics by name (MetricQueries, docs/autoscaling.md)',
    hint: 'FILE',
    usual: 'the sum of the series of that name',
    read: text,
    subject: 'Scaling by load',
    parts: ['control plane'],
  },
});

function scoringStrategy(value: string): ScoringStrategy {
  const strategy = parseScoringStrategy(value);
  if (strategy) return strategy;
  const shape =
    'RequestedToCapacityRatio=PERCENT:SCORE,… with percents that rise to 100 at most and scores of 0 to 10';
  throw new Error(`expected LeastAllocated, MostAllocated or ${shape}`);
}

/**
 * Reads the URL of a server. A user name and a password are rejected, because everybody on the machine could
 * see them.
 */
function serverUrl(value: string): string {
  const url = URL.parse(value);
  const isPlain =
    url && url.username === '' && url.password === '' && url.host !== '' && !/[?#\s]/.test(value);
  if (isPlain && /^https?:$/.test(url.protocol)) return value;
  throw new Error('expected a URL such as https://prometheus.example.com:9090, without a password');
}
