/** Services, Ingresses and claims that lead nowhere, and objects that stay. */
import type { MadeFault } from './made-fault.ts';
import {
  backend,
  claim,
  deployment,
  ingress,
  main,
  mount,
  mounting,
  pod,
  probe,
  service,
} from './objects.ts';

export const services: readonly MadeFault[] = [
  {
    mistake: 'a selector with a typing error',
    ask: 'service/x',
    objects: [deployment(), service({ selector: { app: 'xx' } })],
    words: [/selector|select|match|label/i],
  },
  {
    mistake: 'a target port name that no container has',
    ask: 'service/x',
    objects: [deployment(), service({ selector: { app: 'x' }, ports: [{ port: 80, targetPort: 'http' }] })],
    words: [/http/, /port/i],
  },
  {
    mistake: 'a Service whose pods are never ready',
    ask: 'service/x',
    objects: [deployment(main({ readinessProbe: probe('exit 1') })), service({ selector: { app: 'x' } })],
    words: [/readiness/i],
  },
  {
    mistake: 'a Service of a Deployment with no replicas',
    ask: 'service/x',
    objects: [deployment(main(), { replicas: 0 }), service({ selector: { app: 'x' } })],
    words: [/replicas|scaled/i],
  },
  {
    mistake: 'an Ingress to a Service that does not exist',
    ask: 'ingress/x',
    objects: [ingress(backend('shop'))],
    words: [/shop/],
  },
  {
    mistake: 'an Ingress to a port that its Service does not have',
    ask: 'ingress/x',
    objects: [deployment(), service({ selector: { app: 'x' } }), ingress(backend('x', { number: 8080 }))],
    words: [/8080/],
  },
  {
    mistake: 'an Ingress of a class that does not exist',
    ask: 'ingress/x',
    objects: [
      deployment(),
      service({ selector: { app: 'x' } }),
      ingress({ ingressClassName: 'traefik', ...backend('x') }),
    ],
    words: [/traefik/],
  },
  {
    mistake: 'a certificate that does not exist',
    ask: 'ingress/x',
    objects: [
      deployment(),
      service({ selector: { app: 'x' }, ports: [{ port: 80, targetPort: 8080 }] }),
      ingress({ tls: [{ hosts: ['made.example'], secretName: 'made-tls' }], ...backend('x') }),
    ],
    words: [/made-tls/],
  },
  {
    mistake: 'a storage class that does not exist',
    ask: 'pod/x',
    objects: [
      claim({ storageClassName: 'ssd' }),
      pod(mounting, mount({ persistentVolumeClaim: { claimName: 'data' } })),
    ],
    words: [/ssd/],
  },
  {
    mistake: 'an object with a finalizer that nothing removes',
    ask: 'pod/x',
    objects: [pod(main(), {}, { finalizers: ['example.org/backup'] })],
    next: ['delete', 'pod', 'x', '--wait=false'],
    words: [/example\.org\/backup/],
  },
];
