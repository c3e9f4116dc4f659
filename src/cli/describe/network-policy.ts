/** NetworkPolicies in words. Pure. */
import { isRecord, type JsonObject } from '../../apimachinery/equality.ts';
import { metadataOf, recordAt, recordsAt, textAt } from '../objects/objects.ts';
import type { Describer } from './describer.ts';
import {
  clockText,
  labelsAndAnnotations,
  none,
  selectorOrNone,
  selectorText,
  shownAt,
  stringsAt,
  zoneText,
} from './lines.ts';

export const networkPolicy: Describer = {
  withoutEvents: true,
  lines(object) {
    const { name, namespace, creationTimestamp = '' } = metadataOf(object);
    const spec = recordAt(object, 'spec');
    const types = stringsAt(spec, 'policyTypes');
    const pods = selectorText(recordAt(spec, 'podSelector'));
    const everyPod = `${none} (Allowing the specific traffic to all pods in this namespace)`;
    return [
      `Name:\t${name}`,
      `Namespace:\t${namespace}`,
      `Created on:\t${plainTime(creationTimestamp)}`,
      ...labelsAndAnnotations(object),
      'Spec:',
      `  PodSelector:     ${pods || everyPod}`,
      ...directionLines(ingress, types, recordsAt(spec, 'ingress')),
      ...directionLines(egress, types, recordsAt(spec, 'egress')),
      `  Policy Types: ${types.join(', ') || none}`,
    ];
  },
};

interface Direction {
  readonly type: 'Ingress' | 'Egress';
  readonly field: 'from' | 'to';
  readonly title: 'From' | 'To';
  readonly end: 'source' | 'destination';
}

const ingress: Direction = { type: 'Ingress', field: 'from', title: 'From', end: 'source' };
const egress: Direction = { type: 'Egress', field: 'to', title: 'To', end: 'destination' };

function directionLines(
  direction: Direction,
  types: readonly string[],
  rules: readonly JsonObject[],
): string[] {
  const word = direction.type.toLowerCase();
  if (!types.includes(direction.type)) return [`  Not affecting ${word} traffic`];
  const isolated = [`    ${none} (Selected pods are isolated for ${word} connectivity)`];
  const all = rules.flatMap((rule, index) => [
    ...(index > 0 ? ['    ----------'] : []),
    ...portLines(recordsAt(rule, 'ports')),
    ...peerLines(recordsAt(rule, direction.field), direction),
  ]);
  return [`  Allowing ${word} traffic:`, ...(rules.length === 0 ? isolated : all)];
}

const portLines = (ports: readonly JsonObject[]): string[] =>
  ports.length === 0
    ? ['    To Port: <any> (traffic allowed to all ports)']
    : ports.map((port) => {
        const protocol = textAt(port, 'protocol') || 'TCP';
        const last = shownAt(port, 'endPort');
        const first = shownAt(port, 'port') || '<any>';
        return last ? `    To Port Range: ${first}-${last}/${protocol}` : `    To Port: ${first}/${protocol}`;
      });

const peerLines = (peers: readonly JsonObject[], { title, end }: Direction): string[] =>
  peers.length === 0
    ? [`    ${title}: <any> (traffic not restricted by ${end})`]
    : peers.flatMap((peer) => [`    ${title}:`, ...peerSelector(peer)]);

function peerSelector(peer: JsonObject): string[] {
  const { podSelector, namespaceSelector, ipBlock } = peer;
  if (isRecord(ipBlock))
    return [
      '      IPBlock:',
      `        CIDR: ${textAt(ipBlock, 'cidr')}`,
      `        Except: ${stringsAt(ipBlock, 'except').join(', ')}`,
    ];
  return [
    ...(isRecord(namespaceSelector) ? [`      NamespaceSelector: ${selectorOrNone(namespaceSelector)}`] : []),
    ...(isRecord(podSelector) ? [`      PodSelector: ${selectorOrNone(podSelector)}`] : []),
  ];
}

/** Returns a time such as `2026-11-03 10:00:00 +0000 UTC`. */
function plainTime(timestamp: string): string {
  const at = new Date(Date.parse(timestamp));
  if (Number.isNaN(at.getTime())) return '<unknown>';
  const day = [at.getFullYear(), at.getMonth() + 1, at.getDate()].map((part) =>
    String(part).padStart(2, '0'),
  );
  const zone = /\(([A-Z]+)\)$/.exec(at.toString())?.[1] ?? 'UTC';
  return `${day.join('-')} ${clockText(at)} ${zoneText(at)} ${zone}`;
}
