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
  named,
  pod,
  probe,
  removing,
  service,
} from './objects.ts';

export const services: readonly MadeFault[] = [
  {
    mistake: 'a selector with a typing error',
    ask: 'service/x',
    objects: [deployment(), service({ selector: { app: 'xx' } })],
    words: [/selector|select|match|label/i],
    mend: { named: { gaps: { 'LABEL=VALUE': 'app=x' } } },
  },
  {
    mistake: 'a target port name that no container has',
    ask: 'service/x',
    objects: [deployment(), service({ selector: { app: 'x' }, ports: [{ port: 80, targetPort: 'http' }] })],
    words: [/http/, /port/i],
    mend: { run: [['patch', 'service', 'x', '-p', '{"spec":{"ports":[{"port":80,"targetPort":8080}]}}']] },
  },
  {
    mistake: 'a Service whose pods are never ready',
    ask: 'service/x',
    objects: [deployment(main({ readinessProbe: probe('exit 1') })), service({ selector: { app: 'x' } })],
    words: [/readiness/i],
    mend: { run: [removing('containers/0/readinessProbe')] },
  },
  {
    mistake: 'a Service of a Deployment with no replicas',
    ask: 'service/x',
    objects: [deployment(main(), { replicas: 0 }), service({ selector: { app: 'x' } })],
    words: [/replicas|scaled/i],
    mend: { named: {} },
  },
  {
    mistake: 'an Ingress to a Service that does not exist',
    ask: 'ingress/x',
    objects: [ingress(backend('shop'))],
    words: [/shop/],
    mend: { add: [deployment(), named('shop', service({ selector: { app: 'x' } }))] },
  },
  {
    mistake: 'an Ingress to a port that its Service does not have',
    ask: 'ingress/x',
    objects: [deployment(), service({ selector: { app: 'x' } }), ingress(backend('x', { number: 8080 }))],
    words: [/8080/],
    mend: { again: [ingress(backend('x'))] },
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
    mend: { named: {} },
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
    mend: { named: { gaps: { 'cert=FILE': 'cert=MADE_CERTIFICATE', 'key=FILE': 'key=MADE_KEY' } } },
  },
  {
    mistake: 'a storage class that does not exist',
    ask: 'pod/x',
    objects: [
      claim({ storageClassName: 'ssd' }),
      pod(mounting, mount({ persistentVolumeClaim: { claimName: 'data' } })),
    ],
    words: [/ssd/],
    mend: {
      again: [
        claim({ storageClassName: 'local' }),
        pod(mounting, mount({ persistentVolumeClaim: { claimName: 'data' } })),
      ],
    },
  },
  {
    mistake: 'an object with a finalizer that nothing removes',
    ask: 'pod/x',
    objects: [pod(main(), {}, { finalizers: ['example.org/backup'] })],
    next: ['delete', 'pod', 'x', '--wait=false'],
    words: [/example\.org\/backup/],
    mend: { named: {}, removes: true },
  },
];
