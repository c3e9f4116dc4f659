import type { Column } from '../../../apimachinery/resource-definition.ts';
import { ageColumn, nameColumn, none } from '../../columns.ts';
import type { Ingress } from './types.gen.ts';

const maxHosts = 3;

/** Returns the first hosts, and the number of further rules; rules without a host apply to all hosts. */
function hostsText({ spec: { rules = [] } }: Ingress): string {
  const hosts = rules.flatMap(({ host }, index) => (host ? [{ host, index }] : []));
  const shown = hosts.slice(0, maxHosts);
  if (shown.length === 0) return '*';
  const text = shown.map(({ host }) => host).join(',');
  const isMore = shown.length === maxHosts && (shown.at(-1)?.index ?? 0) < rules.length - 1;
  return isMore ? `${text} + ${rules.length - maxHosts} more...` : text;
}

export const ingressColumns: readonly Column<Ingress>[] = [
  nameColumn,
  {
    name: 'Class',
    type: 'string',
    description: 'The name of its IngressClass.',
    cell: ({ spec }) => spec.ingressClassName ?? none,
  },
  {
    name: 'Hosts',
    type: 'string',
    description: 'The hosts of its rules.',
    cell: hostsText,
  },
  {
    name: 'Address',
    type: 'string',
    description: 'The addresses at which its controller receives requests.',
    cell: ({ status }) => {
      const places = (status?.loadBalancer?.ingress ?? []).map(({ ip, hostname }) => ip || hostname || '');
      return [...new Set(places.filter((place) => place !== ''))].sort().join(',');
    },
  },
  {
    name: 'Ports',
    type: 'string',
    description: 'The ports on which it is served.',
    cell: ({ spec }) => (spec.tls?.length ? '80, 443' : '80'),
  },
  ageColumn,
];
