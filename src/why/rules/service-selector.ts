import type { JsonObject } from '../../apimachinery/equality.ts';
import { metadataOf, recordAt, recordsAt, textAt, valueAt } from '../../apimachinery/fields.ts';
import { command } from '../command.ts';
import { inNamespace, type ObjectRef } from '../kinds.ts';
import { containersOf, isOver, isReady } from '../pod-facts.ts';
import type { Finding, Rule } from '../rule.ts';
import { selectorOf } from '../service-facts.ts';
import type { Snapshot } from '../snapshot.ts';
import { refOf } from '../snapshot.ts';

export const serviceSelector: Rule = {
  kinds: ['services'],
  symptom: 'A Service refuses connections; it has no endpoints.',
  cause:
    'Its selector matches no pod, none of its pods is ready, or its targetPort is a name that no container has.',
  advice: 'Correct the selector, the labels of the pods or the targetPort, or mend the pods.',
  find(service, seen) {
    const selector = selectorOf(service);
    if (!selector || !seen.isRead('pods')) return undefined;
    const { namespace, name } = metadataOf(service);
    const pods = seen.podsWith(namespace, selector).filter((pod) => !isOver(pod));
    const text = Object.entries(selector)
      .map(([key, value]) => `${key}=${value}`)
      .join(',');
    if (pods.length === 0) return noPods(service, text, seen);
    const unnamed = unnamedPort(service, pods);
    if (unnamed !== undefined)
      return {
        severity: 'broken',
        says: `its targetPort ${unnamed} is a name that no container of its pods has`,
        evidence: [`names of ports: ${portNames(pods).join(', ') || 'none'}`],
        mend: [
          {
            command: command`edit service ${name}${inNamespace({ namespace })}`,
            about: 'set targetPort to one of these names or to a number',
          },
        ],
      };
    if (pods.some(isReady)) return undefined;
    return {
      severity: 'broken',
      says: `none of its ${pods.length} pods is ready`,
      because: pods.map((pod): ObjectRef => refOf('pods', pod)),
    };
  },
};

/** Returns the finding for a Service without pods: workloads with the labels may be scaled to zero. */
function noPods(service: JsonObject, text: string, seen: Snapshot): Finding {
  const { namespace, name } = metadataOf(service);
  const selector = selectorOf(service) ?? {};
  for (const key of ['deployments.apps', 'statefulsets.apps', 'daemonsets.apps'] as const)
    for (const workload of seen.list(key, namespace)) {
      const labels = recordAt(workload, 'spec', 'template', 'metadata', 'labels');
      if (!Object.entries(selector).every(([label, value]) => labels[label] === value)) continue;
      const ref = refOf(key, workload);
      const word = textAt(workload, 'kind').toLowerCase();
      return {
        severity: 'broken',
        says: `its selector (${text}) matches the template of ${word} ${ref.name}, which has no pods${isScaledToZero(workload) ? ': it is scaled to 0 replicas' : ''}`,
        mend: [{ command: command`scale ${word}/${ref.name}${inNamespace({ namespace })} --replicas=1` }],
        because: [ref],
      };
    }
  const similar = seen
    .list('pods', namespace)
    .filter((pod) => Object.keys(selector).some((label) => metadataOf(pod).labels[label] !== undefined))
    .slice(0, 3)
    .map(
      (pod) =>
        `pod/${metadataOf(pod).name} has ${Object.keys(selector)
          .map((label) => `${label}=${metadataOf(pod).labels[label] ?? '(none)'}`)
          .join(',')}`,
    );
  return {
    severity: 'broken',
    says: `its selector ${text} matches no pod`,
    evidence: similar,
    mend: [
      {
        command: command`set selector service ${name}${inNamespace({ namespace })} LABEL=VALUE`,
        about: 'with labels that its pods have (ctl get pods --show-labels)',
      },
    ],
  };
}

const isScaledToZero = (workload: JsonObject): boolean =>
  valueAt(workload, 'spec', 'replicas') === 0 && textAt(workload, 'kind') !== 'DaemonSet';

const portNames = (pods: readonly JsonObject[]) =>
  [
    ...new Set(
      pods.flatMap((pod) =>
        containersOf(pod).flatMap(({ spec }) => recordsAt(spec, 'ports').map((port) => textAt(port, 'name'))),
      ),
    ),
  ].filter(Boolean);

function unnamedPort(service: JsonObject, pods: readonly JsonObject[]): string | undefined {
  const names = new Set(portNames(pods));
  return recordsAt(service, 'spec', 'ports')
    .map((port) => port.targetPort)
    .find((target): target is string => typeof target === 'string' && !names.has(target));
}
