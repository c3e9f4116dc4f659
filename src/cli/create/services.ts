/** `ctl create service clusterip`, `nodeport`, `loadbalancer` and `externalname`. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { UsageError } from '../../base/usage-error.ts';
import type { FlagTable } from '../flags/flags.ts';
import { type Generator, type Given, newMetadata } from './generator.ts';

const tcpFlag = {
  tcp: {
    type: 'string',
    hint: 'PORT[:TARGET]',
    about: 'port, and port or name of the port of the pods; may be repeated',
  },
} as const satisfies FlagTable;

/** Reads a port number. Throws UsageError. */
function portNumber(text: string, min: number): number {
  const port = /^\d{1,6}$/.test(text) ? Number(text) : -1;
  if (port < min || port > 65535) throw new UsageError(`${JSON.stringify(text)} is no port: ${min} to 65535`);
  return port;
}

/** Returns the target of a port as a number, or as the name of a port. Throws UsageError. */
function targetOf(text: string): number | string {
  if (/^-?\d+$/.test(text)) return portNumber(text, 1);
  if (!/^(?=.*[a-z])(?!.*--)[a-z0-9]([-a-z0-9]{0,13}[a-z0-9])?$/.test(text))
    throw new UsageError(
      `${JSON.stringify(text)} is no name of a port: at most 15 small letters, digits and '-'`,
    );
  return text;
}

function portsOf({ flags }: Given, nodePort: number): JsonObject[] {
  return flags
    .texts('tcp')
    .flatMap((text) => text.split(','))
    .map((text) => {
      const [port = '', target] = text.split(':');
      const number = portNumber(port, 0);
      return {
        name: text.replaceAll(':', '-'),
        protocol: 'TCP',
        port: number,
        targetPort: target === undefined ? number : targetOf(target),
        ...(nodePort !== 0 && { nodePort }),
      };
    });
}

interface Shape {
  readonly type: string;
  readonly clusterIP?: string | undefined;
  readonly externalName?: string;
  readonly nodePort?: number;
}

function serviceOf(given: Given, { type, clusterIP, externalName, nodePort = 0 }: Shape): JsonObject {
  const { name } = given;
  const ports = portsOf(given, nodePort);
  if (clusterIP !== 'None' && ports.length === 0 && externalName === undefined)
    throw new UsageError('at least one tcp port specifier must be provided');
  return {
    kind: 'Service',
    apiVersion: 'v1',
    metadata: newMetadata(name, { labels: { app: name } }),
    spec: {
      ...(ports.length > 0 && { ports }),
      selector: { app: name },
      ...(clusterIP && { clusterIP }),
      type,
      ...(externalName !== undefined && { externalName }),
    },
    status: { loadBalancer: {} },
  };
}

const clusterIpGenerator: Generator = {
  about: 'create a Service with an address in the cluster',
  resource: 'services',
  flags: {
    ...tcpFlag,
    clusterip: {
      type: 'string',
      hint: 'IP|None',
      about: 'address of the Service; None: headless',
      usual: 'a free one',
    },
  },
  usage: '--tcp=PORT[:TARGET]',
  examples: [
    'service clusterip web --tcp=80:8080 # forward port 80 to port 8080 of the pods',
    'service clusterip web --clusterip=None # create a headless Service',
  ],
  make: (given) => serviceOf(given, { type: 'ClusterIP', clusterIP: given.flags.text('clusterip') }),
};

const nodePortGenerator: Generator = {
  about: 'create a Service with a port on each node',
  resource: 'services',
  flags: {
    ...tcpFlag,
    'node-port': { type: 'string', hint: 'PORT', about: 'port on each node', usual: 'a free one' },
  },
  usage: '--tcp=PORT[:TARGET]',
  examples: ['service nodeport web --tcp=80:8080 --node-port=30080 # choose the port of the nodes'],
  make: (given) => serviceOf(given, { type: 'NodePort', nodePort: given.flags.whole('node-port') ?? 0 }),
};

const loadBalancerGenerator: Generator = {
  about: 'create a Service with an external address',
  resource: 'services',
  flags: tcpFlag,
  usage: '--tcp=PORT[:TARGET]',
  examples: ['service loadbalancer web --tcp=80:8080 # forward port 80 to port 8080 of the pods'],
  make: (given) => serviceOf(given, { type: 'LoadBalancer' }),
};

const externalNameGenerator: Generator = {
  about: 'create a Service that is an alias of a name outside the cluster',
  resource: 'services',
  flags: {
    ...tcpFlag,
    'external-name': { type: 'string', hint: 'NAME', about: 'name outside the cluster' },
  },
  usage: '--external-name=NAME',
  examples: [
    'service externalname shop --external-name=shop.example.com # give a host a name in the cluster',
  ],
  make(given) {
    const externalName = given.flags.text('external-name');
    if (externalName === undefined) throw new UsageError('required flag(s) "external-name" not set');
    if (!/^(?=.{1,253}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/.test(externalName))
      throw new UsageError(`invalid service external name ${externalName}`);
    return serviceOf(given, { type: 'ExternalName', externalName });
  },
};

export const serviceGenerators: Readonly<Record<string, Generator>> = {
  clusterip: clusterIpGenerator,
  nodeport: nodePortGenerator,
  loadbalancer: loadBalancerGenerator,
  externalname: externalNameGenerator,
};
