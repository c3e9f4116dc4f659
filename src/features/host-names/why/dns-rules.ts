/** Causes of a host name that is not served. Pure. */
import type { JsonObject } from '../../../apimachinery/equality.ts';
import { metadataOf, numberAt, recordsAt, textAt } from '../../../apimachinery/fields.ts';
import { command } from '../../../why/command.ts';
import { inNamespace, type ObjectRef } from '../../../why/kinds.ts';
import { conditionOf, isOver, isReady, oneLine } from '../../../why/pod-facts.ts';
import type { Rule, Rules } from '../../../why/rule.ts';
import { selectorOf } from '../../../why/service-facts.ts';
import { refOf } from '../../../why/snapshot.ts';

function troubleOf(dns: JsonObject): { readonly reason: string; readonly message: string } | undefined {
  const ready = conditionOf(dns, 'Ready');
  if (ready?.status !== 'False') return undefined;
  return { reason: textAt(ready, 'reason'), message: oneLine(textAt(ready, 'message')) };
}

const edit = (dns: JsonObject, what: string) => {
  const { name, namespace } = metadataOf(dns);
  return { command: command`edit dns ${name}${inNamespace({ namespace })}`, about: what };
};

const dnsHost: Rule = {
  kinds: ['dnses.minik8s.io'],
  symptom: 'A host name of a Dns object does not resolve: HostNotAllowed, HostTaken or TooManyPaths.',
  cause:
    'The host is a name of the cluster, belongs to another namespace, or the namespace has too many paths.',
  advice: 'Choose another host, or remove paths that are not needed.',
  find(dns) {
    const trouble = troubleOf(dns);
    if (!trouble || !['HostNotAllowed', 'HostTaken', 'TooManyPaths'].includes(trouble.reason))
      return undefined;
    const isPaths = trouble.reason === 'TooManyPaths';
    return {
      severity: 'broken',
      says: trouble.message,
      mend: [edit(dns, isPaths ? 'remove paths, or delete other Dns objects' : 'set another spec.host')],
    };
  },
};

const dnsService: Rule = {
  kinds: ['dnses.minik8s.io'],
  symptom: 'A path of a Dns object answers 404 or 503: ServiceNotFound, PortNotFound or NoClusterIP.',
  cause: 'The Service of the path does not exist, or lacks the TCP port or a cluster IP.',
  advice: 'Create the Service, or correct serviceName and servicePort.',
  find(dns, seen) {
    const trouble = troubleOf(dns);
    if (!trouble || !['ServiceNotFound', 'PortNotFound', 'NoClusterIP'].includes(trouble.reason))
      return undefined;
    const { namespace } = metadataOf(dns);
    const missing = recordsAt(dns, 'spec', 'paths').find((path) =>
      seen.isAbsent({ key: 'services', namespace, name: textAt(path, 'serviceName') }),
    );
    return {
      severity: 'broken',
      says: trouble.message,
      evidence: recordsAt(dns, 'spec', 'paths').flatMap((path) => portsLine(seen.get(serviceOf(dns, path)))),
      mend: [
        ...(missing && trouble.reason === 'ServiceNotFound'
          ? [
              {
                command: command`create service clusterip ${textAt(missing, 'serviceName')}${inNamespace({ namespace })} --tcp=${String(numberAt(missing, 'servicePort'))}`,
                about: 'its pods have the label app=NAME',
              },
            ]
          : []),
        edit(dns, 'correct serviceName and servicePort'),
      ],
    };
  },
};

const serviceOf = (dns: JsonObject, path: JsonObject): ObjectRef => ({
  key: 'services',
  namespace: metadataOf(dns).namespace,
  name: textAt(path, 'serviceName'),
});

function portsLine(service: JsonObject | undefined): readonly string[] {
  if (!service) return [];
  const ports = recordsAt(service, 'spec', 'ports').map((port) => String(numberAt(port, 'port')));
  return [`service ${metadataOf(service).name} has the ports ${ports.join(', ') || '(none)'}`];
}

const dnsServed: Rule = {
  kinds: ['dnses.minik8s.io'],
  symptom: 'Some nodes do not serve a host name: PortTaken, WebServerNotStarted, RoutingFailed or NoNodes.',
  cause: 'Another program of the node uses port 80, or the web server of the node does not start.',
  advice: 'Free the port on the node that is named.',
  find(dns, seen) {
    const trouble = troubleOf(dns);
    if (!trouble) return undefined;
    if (trouble.reason === 'NotServedYet') return { severity: 'waiting', says: trouble.message };
    return {
      severity: 'degraded',
      says: trouble.message,
      evidence: [`Ready: ${trouble.reason}`],
      mend: [
        {
          advice:
            trouble.reason === 'PortTaken'
              ? 'end the program that uses port 80 on the node that is named'
              : 'minik8s doctor on the node that is named shows what its web server lacks',
        },
      ],
      because: trouble.reason === 'NoNodes' ? seen.list('nodes').map((node) => refOf('nodes', node)) : [],
    };
  },
};

/** A Dns object whose Services have no pods is served, and answers 503. */
const dnsEndpoints: Rule = {
  kinds: ['dnses.minik8s.io'],
  symptom: 'A path of a Dns object answers 502 or 503.',
  cause: 'The Service of the path has no ready pods.',
  advice: 'Mend the Service that is named.',
  find(dns, seen) {
    for (const path of recordsAt(dns, 'spec', 'paths')) {
      const ref = serviceOf(dns, path);
      const service = seen.get(ref);
      const selector = service && selectorOf(service);
      if (!selector || !seen.isRead('pods')) continue;
      const pods = seen.podsWith(ref.namespace, selector).filter((pod) => !isOver(pod));
      if (pods.some(isReady)) continue;
      return {
        severity: 'broken',
        says: `the Service ${ref.name} of the path ${textAt(path, 'path') || '/'} has no ready pods`,
        because: [ref],
      };
    }
    return undefined;
  },
};

export const dnsRules: Rules = {
  'dns-host': dnsHost,
  'dns-service': dnsService,
  'dns-served': dnsServed,
  'dns-endpoints': dnsEndpoints,
};
