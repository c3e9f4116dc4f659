/** Services, Endpoints and EndpointSlices. Pure. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { dashedAddress } from '../../base/addresses.ts';
import { metadataOf, numberAt, recordAt, recordsAt, textAt, valueAt } from '../objects/objects.ts';
import type { Describer, Found, Need, Related } from './describer.ts';
import {
  headLines,
  none,
  optionalLine,
  pairsText,
  shownAt,
  shownOrUnset,
  stringsAt,
  unset,
} from './lines.ts';

/** Returns the endpoint slices of a Service. */
export const slicesOf = (namespace: string, service: string): Need => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  namespace,
  labelSelector: `kubernetes.io/service-name=${service}`,
});

export const service: Describer = {
  needs(object): Readonly<Record<string, Need>> {
    const { name, namespace } = metadataOf(object);
    const slices = slicesOf(namespace, name);
    const selector = Object.entries(recordAt(object, 'spec', 'selector'));
    const announced = announcementOf(object);
    const needs = { slices, ...(announced && { announced }) };
    if (selector.length === 0) return needs;
    const labelSelector = selector.map(([key, value]) => `${key}=${value}`).join(',');
    return { ...needs, pods: { apiVersion: 'v1', kind: 'Pod', namespace, labelSelector } };
  },
  lines(object, related) {
    const spec = recordAt(object, 'spec');
    const pods = related('pods');
    const declared = declaredPorts(pods);
    const hasPods = pods.items.length > 0;
    const health = numberAt(spec, 'healthCheckNodePort');
    return [
      ...headLines(object),
      `Selector:\t${pairsText(recordAt(spec, 'selector'))}`,
      `Type:\t${textAt(spec, 'type')}`,
      ...addressLines(object),
      ...announcedLines(object, related),
      ...recordsAt(spec, 'ports').flatMap((port) =>
        portLines(port, related('slices'), spec, declared, hasPods),
      ),
      `Session Affinity:\t${textAt(spec, 'sessionAffinity')}`,
      ...optionalLine('External Traffic Policy', textAt(spec, 'externalTrafficPolicy')),
      ...optionalLine('Internal Traffic Policy', textAt(spec, 'internalTrafficPolicy')),
      ...(health ? [`HealthCheck NodePort:\t${health}`] : []),
      ...optionalLine('LoadBalancer Source Ranges', stringsAt(spec, 'loadBalancerSourceRanges').join(',')),
    ];
  },
};

/**
 * Returns the Lease that names the node which announces the Service's address; undefined for an address that
 * no pool has assigned.
 */
function announcementOf(object: JsonObject): Need | undefined {
  const [first] = recordsAt(object, 'status', 'loadBalancer', 'ingress');
  if (!first || textAt(first, 'ipMode') !== 'VIP') return undefined;
  const name = `load-balancer.${dashedAddress(textAt(first, 'ip'))}`;
  return { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', namespace: 'kube-system', name };
}

/**
 * Returns the line with the node that announces the address; none for an address of another controller, and
 * for a user who may not read the Lease.
 */
function announcedLines(object: JsonObject, related: Related): string[] {
  const [lease] = announcementOf(object) ? related('announced').items : [];
  return lease ? [`Announced By:\t${textAt(lease, 'spec', 'holderIdentity') || none}`] : [];
}

function addressLines(object: JsonObject): string[] {
  const spec = recordAt(object, 'spec');
  const ingress = recordsAt(object, 'status', 'loadBalancer', 'ingress').map((one) => {
    const ip = textAt(one, 'ip');
    const mode = textAt(one, 'ipMode');
    return ip ? `${ip}${mode ? ` (${mode})` : ''}` : textAt(one, 'hostname');
  });
  return [
    ...optionalLine('IP Family Policy', textAt(spec, 'ipFamilyPolicy')),
    `IP Families:\t${stringsAt(spec, 'ipFamilies').join(',') || none}`,
    `IP:\t${textAt(spec, 'clusterIP')}`,
    `IPs:\t${stringsAt(spec, 'clusterIPs').join(',') || none}`,
    ...optionalLine('External IPs', stringsAt(spec, 'externalIPs').join(',')),
    ...optionalLine('Desired LoadBalancer IP', textAt(spec, 'loadBalancerIP')),
    ...optionalLine('External Name', textAt(spec, 'externalName')),
    ...optionalLine('LoadBalancer Ingress', ingress.join(', ')),
  ];
}

interface DeclaredPort {
  readonly name: string;
  readonly number: number;
  readonly protocol: string;
}

/** Returns the ports that the containers of the pods declare, each once. */
function declaredPorts({ items }: Found): DeclaredPort[] {
  const ports = items
    .flatMap((pod) => recordsAt(pod, 'spec', 'containers').flatMap((one) => recordsAt(one, 'ports')))
    .map((port) => ({
      name: textAt(port, 'name'),
      number: numberAt(port, 'containerPort'),
      protocol: textAt(port, 'protocol') || 'TCP',
    }));
  const texts = ports.map(portText);
  return ports.filter((_, index) => texts.indexOf(texts[index] ?? '') === index);
}

const portText = ({ name, number, protocol }: DeclaredPort) => `${name && `${name} `}${number}/${protocol}`;

/**
 * Returns a remark on a target port that no container of the pods declares; kubectl has none. Containers need
 * not declare ports, so pods that declare none get no remark unless the target port is a name.
 */
function undeclared(port: JsonObject, declared: readonly DeclaredPort[], hasPods: boolean): string {
  const target = shownAt(port, 'targetPort');
  const protocol = textAt(port, 'protocol') || 'TCP';
  const isNamed = !/^\d+$/.test(target);
  const isDeclared = declared.some(
    (one) => one.protocol === protocol && (isNamed ? one.name === target : String(one.number) === target),
  );
  if (isDeclared || !hasPods || (declared.length === 0 && !isNamed)) return '';
  const ports = declared.map(portText).join(', ') || 'none';
  return ` (no container of its pods declares this port; declared: ${ports})`;
}

function portLines(
  port: JsonObject,
  slices: Found,
  spec: JsonObject,
  declared: readonly DeclaredPort[],
  hasPods: boolean,
): string[] {
  const name = textAt(port, 'name');
  const protocol = textAt(port, 'protocol');
  const nodePort = numberAt(port, 'nodePort');
  return [
    `Port:\t${name || unset}\t${numberAt(port, 'port')}/${protocol}`,
    `TargetPort:\t${shownAt(port, 'targetPort')}/${protocol}${undeclared(port, declared, hasPods)}`,
    ...(nodePort ? [`NodePort:\t${name || unset}\t${nodePort}/${protocol}`] : []),
    `Endpoints:\t${endpointsText(slices, name, pairsText(recordAt(spec, 'selector')))}`,
  ];
}

const maxEndpoints = 3;

/**
 * Returns the ready endpoints of a port, such as `10.244.0.7:8080,10.244.0.9:8080`: three, and the number of
 * the others. If there are none, the text says why; kubectl prints nothing then. `selector` is the Service's,
 * as text.
 */
export function endpointsText({ items, refused }: Found, portName: string, selector = none): string {
  if (refused) return refused;
  const endpoints = items.flatMap((slice) => {
    const ports = recordsAt(slice, 'ports');
    const targets = ports
      .filter((port) => textAt(port, 'name') === portName)
      .map((port) => shownAt(port, 'port'));
    return recordsAt(slice, 'endpoints').flatMap((endpoint) => {
      const [address = ''] = stringsAt(endpoint, 'addresses');
      const ready = valueAt(endpoint, 'conditions', 'ready') !== false;
      const texts = ports.length === 0 ? [address] : targets.map((target) => joinHostPort(address, target));
      return texts.map((text) => ({ text, ready }));
    });
  });
  const ready = endpoints.filter((one) => one.ready).map(({ text }) => text);
  if (ready.length === 0) return missingText(endpoints.length, selector);
  const first = ready.slice(0, maxEndpoints).join(',');
  return ready.length > maxEndpoints ? `${first} + ${ready.length - maxEndpoints} more...` : first;
}

function missingText(unready: number, selector: string): string {
  if (unready > 0) return `${none} (pods that the selector matches: ${unready}, ready: 0)`;
  return selector === none ? none : `${none} (no running pod has the labels ${selector})`;
}

const joinHostPort = (host: string, port: string) =>
  host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;

export const endpoints: Describer = {
  lines: (object) => [
    ...headLines(object),
    'Subsets:',
    ...recordsAt(object, 'subsets').flatMap((subset) => {
      const addresses = (field: string) =>
        recordsAt(subset, field)
          .map((one) => textAt(one, 'ip'))
          .join(',') || none;
      const ports = recordsAt(subset, 'ports').map(
        (port) =>
          `    ${textAt(port, 'name') || unset}\t${shownAt(port, 'port')}\t${textAt(port, 'protocol')}`,
      );
      return [
        `  Addresses:\t${addresses('addresses')}`,
        `  NotReadyAddresses:\t${addresses('notReadyAddresses')}`,
        ...(ports.length > 0
          ? ['  Ports:', '    Name\tPort\tProtocol', '    ----\t----\t--------', ...ports]
          : []),
        '',
      ];
    }),
  ],
};

export const endpointSlice: Describer = {
  lines(object) {
    const ports = recordsAt(object, 'ports').map(
      (port) =>
        `  ${textAt(port, 'name') || unset}\t${shownOrUnset(port, 'port')}\t${textAt(port, 'protocol')}`,
    );
    const all = recordsAt(object, 'endpoints');
    return [
      ...headLines(object),
      `AddressType:\t${textAt(object, 'addressType')}`,
      ...(ports.length === 0
        ? [`Ports: ${unset}`]
        : ['Ports:', '  Name\tPort\tProtocol', '  ----\t----\t--------', ...ports]),
      ...(all.length === 0 ? [`Endpoints: ${none}`] : ['Endpoints:', ...all.flatMap(endpointLines)]),
    ];
  },
};

function endpointLines(endpoint: JsonObject): string[] {
  const target = recordAt(endpoint, 'targetRef');
  return [
    `  - Addresses:\t${stringsAt(endpoint, 'addresses').join(', ') || none}`,
    '    Conditions:',
    `      Ready:\t${shownOrUnset(endpoint, 'conditions', 'ready')}`,
    `    Hostname:\t${shownOrUnset(endpoint, 'hostname')}`,
    ...(target.kind ? [`    TargetRef:\t${textAt(target, 'kind')}/${textAt(target, 'name')}`] : []),
    `    NodeName:\t${shownOrUnset(endpoint, 'nodeName')}`,
    `    Zone:\t${shownOrUnset(endpoint, 'zone')}`,
  ];
}
