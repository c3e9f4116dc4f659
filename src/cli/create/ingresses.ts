/** `ctl create ingress`. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { UsageError } from '../../base/usage-error.ts';
import { type Generator, newMetadata } from './generator.ts';

/** A rule: `HOST/PATH=SERVICE:PORT[,tls[=SECRET]]`. */
interface Rule {
  readonly host: string;
  readonly path: string;
  readonly backend: JsonObject;
  /** Name of a Secret, or an empty string; absent without TLS. */
  readonly secret?: string;
}

const rulePattern =
  /^(?<host>[^/,=]*)\/(?<path>[^=,]*)=(?<service>[^:,=/]+):(?<port>[^:,=/]+)(?:,tls(?:=(?<secret>[^,=]*))?)?$/;

function ruleOf(text: string): Rule {
  const found = rulePattern.exec(text);
  if (!found?.groups)
    throw new UsageError(
      `rule ${text} is invalid and should be in format host/path=svcname:svcport[,tls[=secret]]`,
    );
  const { host = '', path = '', service = '', port = '', secret } = found.groups;
  const hasTls = text.includes(',tls');
  return { host, path, backend: backendOf(service, port), ...(hasTls && { secret: secret ?? '' }) };
}

const backendOf = (name: string, port: string): JsonObject => ({
  service: { name, port: /^\d+$/.test(port) ? { number: Number(port) } : { name: port } },
});

/** Returns the rules of each host, in the order in which hosts appear. */
function rulesOf(rules: readonly Rule[]): JsonObject[] {
  return [...Map.groupBy(rules, ({ host }) => host)].map(([host, members]) => ({
    ...(host && { host }),
    http: {
      paths: members.map(({ path, backend }) => {
        const whole = `/${path}`;
        const isPrefix = whole.endsWith('*');
        return {
          path: isPrefix ? whole.slice(0, -1) : whole,
          pathType: isPrefix ? 'Prefix' : 'Exact',
          backend,
        };
      }),
    },
  }));
}

/** Returns one entry for each Secret; a host is in the first one that names it. */
function tlsOf(rules: readonly Rule[]): JsonObject[] {
  const named = rules.filter(({ secret }) => secret !== undefined);
  const first = named.filter(({ host }, index) => named.findIndex((other) => other.host === host) === index);
  return [...Map.groupBy(first, ({ secret = '' }) => secret)].flatMap(([secretName, members]) => {
    const hosts = members.map(({ host }) => host).filter(Boolean);
    const entry = { ...(hosts.length > 0 && { hosts }), ...(secretName && { secretName }) };
    return Object.keys(entry).length > 0 ? [entry] : [];
  });
}

const ingressGenerator: Generator = {
  about: 'create an Ingress that routes requests to Services',
  resource: 'ingresses.networking.k8s.io',
  flags: {
    class: { type: 'string', hint: 'NAME', about: 'class of the Ingress' },
    rule: {
      type: 'string',
      hint: 'HOST/PATH=SERVICE:PORT[,tls[=SECRET]]',
      about: 'a rule; a path that ends with * is a prefix; may be repeated',
    },
    'default-backend': {
      type: 'string',
      hint: 'SERVICE:PORT',
      about: 'Service of all requests that no rule matches',
    },
    annotation: { type: 'string', hint: 'KEY=VALUE', about: 'an annotation; may be repeated' },
  },
  usage: '--rule=HOST/PATH=SERVICE:PORT',
  examples: [
    'ingress shop --rule="shop.example/*=web:80,tls=shop-cert" # route all paths of a host to a Service',
  ],
  make({ name, flags }) {
    const backend = flags.text('default-backend');
    const rules = flags.texts('rule').map(ruleOf);
    if (!backend && rules.length === 0)
      throw new UsageError('an ingress needs --default-backend=SERVICE:PORT, or --rule, or both');
    const annotations = annotationsOf(flags.texts('annotation'));
    const [className, tls] = [flags.text('class'), tlsOf(rules)];
    return {
      kind: 'Ingress',
      apiVersion: 'networking.k8s.io/v1',
      metadata: newMetadata(name, Object.keys(annotations).length > 0 ? { annotations } : {}),
      spec: {
        ...(className && { ingressClassName: className }),
        ...(backend && { defaultBackend: defaultBackendOf(backend) }),
        ...(tls.length > 0 && { tls }),
        ...(rules.length > 0 && { rules: rulesOf(rules) }),
      },
      status: { loadBalancer: {} },
    };
  },
};

function defaultBackendOf(text: string): JsonObject {
  const [service = '', port, ...more] = text.split(':');
  if (port === undefined || more.length > 0)
    throw new UsageError('default-backend should be in format servicename:serviceport');
  return backendOf(service, port);
}

function annotationsOf(texts: readonly string[]): Record<string, string> {
  const pairs = texts.map((text) => {
    const at = text.indexOf('=');
    if (at < 0) throw new UsageError(`annotation ${text} is invalid and should be in format key=[value]`);
    return [text.slice(0, at), text.slice(at + 1)] as const;
  });
  return Object.fromEntries(pairs.sort(([a], [b]) => (a < b ? -1 : 1)));
}

export const ingressGenerators: Readonly<Record<string, Generator>> = {
  ingress: ingressGenerator,
  ing: ingressGenerator,
};
