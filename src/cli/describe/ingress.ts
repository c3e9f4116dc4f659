/** Ingresses and their classes. Pure. */
import { isRecord, type JsonObject } from '../../apimachinery/equality.ts';
import { metadataOf, recordAt, recordsAt, textAt } from '../objects/objects.ts';
import type { Describer, Need, Related } from './describer.ts';
import {
  annotationLines,
  headLines,
  labelLines,
  none,
  optionalLine,
  shownAt,
  sorted,
  stringsAt,
} from './lines.ts';
import { endpointsText, slicesOf } from './services.ts';

export const ingress: Describer = {
  needs(object) {
    const { namespace } = metadataOf(object);
    const services = new Set(
      backendsOf(object)
        .map((backend) => textAt(backend, 'service', 'name'))
        .filter(Boolean),
    );
    const needs: Record<string, Need> = {};
    for (const name of services) {
      needs[`service ${name}`] = { apiVersion: 'v1', kind: 'Service', namespace, name };
      needs[`slices ${name}`] = slicesOf(namespace, name);
    }
    return needs;
  },
  lines(object, related) {
    const { name, namespace } = metadataOf(object);
    const spec = recordAt(object, 'spec');
    const fallback = isRecord(spec.defaultBackend) ? backendText(spec.defaultBackend, related) : '<default>';
    const addresses = recordsAt(object, 'status', 'loadBalancer', 'ingress')
      .map((one) => textAt(one, 'ip') || textAt(one, 'hostname'))
      .filter(Boolean);
    return [
      `Name:\t${name}`,
      ...labelLines('Labels', recordAt(object, 'metadata', 'labels')),
      `Namespace:\t${namespace}`,
      `Address:\t${sorted(new Set(addresses)).join(',')}`,
      `Ingress Class:\t${textAt(spec, 'ingressClassName') || none}`,
      `Default backend:\t${fallback}`,
      ...tlsLines(recordsAt(spec, 'tls')),
      'Rules:',
      '  Host\tPath\tBackends',
      '  ----\t----\t--------',
      ...ruleLines(spec, fallback, related),
      ...annotationLines('Annotations', recordAt(object, 'metadata', 'annotations')),
    ];
  },
};

const pathsOf = (rule: JsonObject) => recordsAt(rule, 'http', 'paths');

const backendsOf = (object: JsonObject): JsonObject[] => [
  recordAt(object, 'spec', 'defaultBackend'),
  ...recordsAt(object, 'spec', 'rules').flatMap((rule) =>
    pathsOf(rule).map((path) => recordAt(path, 'backend')),
  ),
];

function backendText(backend: JsonObject, related: Related): string {
  const { service, resource } = backend;
  if (isRecord(resource)) {
    const group = textAt(resource, 'apiGroup') || none;
    return `APIGroup: ${group}, Kind: ${textAt(resource, 'kind')}, Name: ${textAt(resource, 'name')}`;
  }
  if (!isRecord(service)) return '';
  const name = textAt(service, 'name');
  const port = shownAt(service, 'port', 'number') || textAt(service, 'port', 'name');
  const found = related(`service ${name}`);
  if (found.refused) return `${name}:${port} (<error: ${found.refused}>)`;
  const used = recordsAt(found.items[0], 'spec', 'ports').find(
    (one) => shownAt(one, 'port') === port || textAt(one, 'name') === port,
  );
  return `${name}:${port} (${endpointsText(related(`slices ${name}`), textAt(used, 'name'))})`;
}

const tlsLines = (entries: readonly JsonObject[]): string[] =>
  entries.length === 0
    ? []
    : [
        'TLS:',
        ...entries.map((entry) => {
          const secret = textAt(entry, 'secretName');
          const hosts = stringsAt(entry, 'hosts').join(',');
          return secret ? `  ${secret} terminates ${hosts}` : `  SNI routes ${hosts}`;
        }),
      ];

function ruleLines(spec: JsonObject, fallback: string, related: Related): string[] {
  const rules = recordsAt(spec, 'rules').filter((rule) => isRecord(rule.http));
  if (rules.length === 0) return [`  *\t*\t${fallback}`];
  return rules.flatMap((rule) => [
    `  ${textAt(rule, 'host') || '*'}\t`,
    ...pathsOf(rule).map(
      (path) => `    \t${textAt(path, 'path')} \t${backendText(recordAt(path, 'backend'), related)}`,
    ),
  ]);
}

export const ingressClass: Describer = {
  lines(object) {
    const parameters = recordAt(object, 'spec', 'parameters');
    return [
      ...headLines(object, { namespaced: false }),
      `Controller:\t${textAt(object, 'spec', 'controller')}`,
      ...(parameters.kind
        ? [
            'Parameters:',
            ...optionalLine('  APIGroup', textAt(parameters, 'apiGroup')),
            `  Kind:\t${textAt(parameters, 'kind')}`,
            `  Name:\t${textAt(parameters, 'name')}`,
          ]
        : []),
    ];
  },
};
