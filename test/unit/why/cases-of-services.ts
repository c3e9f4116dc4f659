/** States of Services and Ingresses, each with the rule that must recognize it. */
import type { JsonObject } from '../../../src/apimachinery/equality.ts';
import type { Case } from './why-cases.ts';
import { about, condition, event, node, object, pod } from './why-objects.ts';

const ready = { phase: 'Running', conditions: [condition('Ready', 'True')] };
const web = { app: 'web' };
const service = (spec: JsonObject) => object('Service', 'web', { spec });
const balancer = (reason: string, message: string, addresses: readonly string[]) =>
  object('Service', 'web', {
    spec: { type: 'LoadBalancer' },
    status: {
      loadBalancer: { ingress: addresses.map((ip) => ({ ip, ipMode: 'VIP' })) },
      conditions: [{ type: 'minik8s.io/LoadBalancerServed', status: 'False', reason, message }],
    },
  });
const backend = (name: string, number: number) => ({ service: { name, port: { number } } });
const ingress = (spec: JsonObject) => object('Ingress', 'web', { spec });
const ingresses = 'ingresses.networking.k8s.io';

export const serviceCases: readonly Case[] = [
  {
    rule: 'service-selector',
    about: about('services', 'web'),
    objects: {
      services: [service({ selector: web })],
      pods: [pod('a', { metadata: { labels: { app: 'wep' } } })],
    },
    says: /selector app=web matches no pod/,
    evidence: /pod\/a has app=wep/,
    mend: /^set selector service web -n default/,
  },
  {
    rule: 'service-selector',
    about: about('services', 'web'),
    objects: {
      services: [service({ selector: web })],
      pods: [],
      'deployments.apps': [
        object('Deployment', 'web', { spec: { replicas: 0, template: { metadata: { labels: web } } } }),
      ],
    },
    says: /template of deployment web, which has no pods: it is scaled to 0 replicas/,
    mend: /^scale deployment\/web -n default --replicas=1$/,
  },
  {
    rule: 'service-selector',
    about: about('services', 'web'),
    objects: {
      services: [service({ selector: web, ports: [{ port: 80, targetPort: 'web' }] })],
      pods: [
        pod('a', {
          metadata: { labels: web },
          spec: { containers: [{ name: 'main', ports: [{ name: 'http', containerPort: 80 }] }] },
          status: ready,
        }),
      ],
    },
    says: /targetPort web is a name that no container/,
    evidence: /http/,
  },
  {
    rule: 'service-pool',
    about: about('services', 'web'),
    objects: {
      services: [balancer('PoolExhausted', 'none of the 3 addresses of the pool is free', [])],
    },
    says: /none of the 3 addresses/,
  },
  {
    rule: 'service-announced',
    about: about('services', 'web'),
    objects: {
      services: [balancer('NoNode', 'no node announces 192.0.2.7: there is no ready node', ['192.0.2.7'])],
    },
    says: /no node announces 192\.0\.2\.7/,
  },
  {
    rule: 'service-announced',
    about: about('services', 'web'),
    objects: {
      services: [service({ type: 'LoadBalancer' })],
      events: [event('Service', 'web', 'AddressInUse', 'another machine (52:54:00:00:00:01) has it')],
    },
    says: /another machine in the local network has it/,
    evidence: /52:54:00/,
  },
  {
    rule: 'service-balancer',
    about: about('services', 'web'),
    objects: { services: [service({ type: 'LoadBalancer', loadBalancerClass: 'other.io/lb' })] },
    says: /other\.io\/lb has assigned none/,
  },
  {
    rule: 'ingress-class',
    about: about(ingresses, 'web'),
    objects: {
      [ingresses]: [ingress({ ingressClassName: 'nginx' })],
      'ingressclasses.networking.k8s.io': [],
    },
    says: /IngressClass nginx does not exist/,
  },
  {
    rule: 'ingress-served',
    about: about(ingresses, 'web'),
    objects: {
      [ingresses]: [ingress({ ingressClassName: 'minik8s' })],
      'ingressclasses.networking.k8s.io': [
        object('IngressClass', 'minik8s', {
          metadata: { namespace: '' },
          spec: { controller: 'minik8s.io/ingress' },
        }),
      ],
      nodes: [
        node('vm1', {
          status: {
            conditions: [
              condition('IngressServed', 'False', 'WebServerNotStarted', 'cannot pull nginx:alpine'),
            ],
          },
        }),
      ],
    },
    says: /^no node serves Ingresses$/,
    evidence: /^node vm1: cannot pull nginx:alpine$/,
  },
  {
    rule: 'ingress-service',
    about: about(ingresses, 'web'),
    objects: {
      [ingresses]: [ingress({ defaultBackend: backend('web', 81) })],
      services: [service({ ports: [{ port: 80 }] })],
    },
    says: /Service web has no port 81/,
    evidence: /ports of web: 80/,
  },
  {
    rule: 'ingress-endpoints',
    about: about(ingresses, 'web'),
    objects: {
      [ingresses]: [ingress({ rules: [{ http: { paths: [{ backend: backend('web', 80) }] } }] })],
      services: [service({ selector: web, ports: [{ port: 80 }] })],
      pods: [],
    },
    says: /its Service has no ready pods: web/,
    first: 'service-selector',
  },
  {
    rule: 'ingress-tls',
    about: about(ingresses, 'web'),
    objects: { [ingresses]: [ingress({ tls: [{ secretName: 'cert' }] })], secrets: [] },
    says: /Secret cert of its TLS does not exist/,
    mend: /^create secret tls cert -n default/,
  },
];
