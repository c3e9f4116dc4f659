/** Pods whose image is not pulled, or does not run on the node. */
import type { Case } from './why-cases.ts';
import { condition, node, pod, waiting } from './why-objects.ts';

const answers: readonly (readonly [message: string, says: RegExp, mend: RegExp])[] = [
  ['manifest for hello:1 not found: manifest unknown', /has no such tag/, /^set image pod\/web/],
  ['denied: requested access to the resource is denied', /requires a password/, /^set image/],
  ['toomanyrequests: You have reached your pull rate limit', /limits the number of pulls/, /wait/],
  [
    'x509: certificate signed by unknown authority',
    /certificate .* is not trusted/,
    /make the engine of the node trust/,
  ],
  ['dial tcp: lookup reg on 127.0.0.53: no such host', /does not resolve/, /^set image/],
  ['no matching manifest for linux/arm64/v8', /for the processor of the node/, /^set image/],
  ['something new', /the image hello cannot be pulled$/, /^set image/],
];

export const imageCases: readonly Case[] = [
  ...answers.map(
    ([message, says, mend]): Case => ({
      rule: 'pod-image',
      objects: { pods: [waiting('web', 'ErrImagePull', message)] },
      ...{ says, mend },
    }),
  ),
  {
    rule: 'pod-image',
    objects: {
      pods: [
        pod('web', {
          spec: { nodeName: 'n1', imagePullSecrets: [{ name: 'login' }] },
          status: {
            containerStatuses: [
              { name: 'main', state: { waiting: { reason: 'ErrImagePull', message: '' } } },
            ],
          },
        }),
      ],
      secrets: [],
    },
    says: /the Secret login of its imagePullSecrets does not exist/,
    mend: /^create secret docker-registry login -n default/,
  },
  {
    rule: 'pod-architecture',
    objects: {
      pods: [waiting('web', 'RunContainerError', 'exec /shop: exec format error')],
      nodes: [
        node('n1', {
          status: { conditions: [condition('Ready', 'True')], nodeInfo: { architecture: 'arm64' } },
        }),
      ],
    },
    says: /hello of container main is made for another processor architecture/,
    evidence: /the node n1 has arm64/,
    mend: /build hello for arm64/,
  },
  {
    rule: 'pod-start-error',
    objects: { pods: [waiting('web', 'PostStartHookError', 'exit code 1')] },
    says: /the postStart hook of container main fails/,
  },
];
