/** 1,000 policies over 1,000 pods of one node, and the objects that change them. */
import type { Pod } from '../../../src/api/core/v1/pod/pod.ts';
import type { NetworkPolicy } from '../../../src/api/networking/v1/network-policy.ts';

export const count = 1000;
export const podIP = (n: number) => `10.244.${n >> 8}.${n & 255}`;

const metadata = (name: string, generation = 1) => ({
  ...{ name, namespace: 'default', uid: name, generation },
  resourceVersion: '1',
  creationTimestamp: '',
});

export const makePod = (n: number, ip = podIP(n + 2)): Pod =>
  ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { ...metadata(`pod-${n}`), labels: { app: `app-${n % count}`, group: `group-${n % 10}` } },
    spec: { nodeName: 'n', containers: [{ name: 'main', ports: [{ name: 'web', containerPort: 8080 }] }] },
    status: { phase: 'Running', podIPs: [{ ip }] },
  }) as unknown as Pod;

/**
 * Each pod is isolated by its own policy, which allows the next app, a tenth of all pods, and an address
 * block.
 */
export const makePolicy = (n: number, generation = 1): NetworkPolicy => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata: metadata(`policy-${n}`, generation),
  spec: {
    podSelector: { matchLabels: { app: `app-${n}` } },
    policyTypes: ['Ingress'],
    ingress: [
      {
        from: [
          { podSelector: { matchLabels: { app: `app-${(n + 1) % count}` } } },
          { podSelector: { matchLabels: { group: `group-${n % 10}` } } },
        ],
        ports: [
          { protocol: 'TCP', port: 'web' },
          { protocol: 'TCP', port: 9000 + generation },
        ],
      },
      { from: [{ ipBlock: { cidr: '198.51.100.0/24', except: [`198.51.100.${n % 256}/32`] } }] },
    ],
  },
});
