/** The entries of docs/troubleshooting.md about certificates that are lost or have expired. */
import type { Trouble } from './troubles.ts';

/** A certificate of the cluster's authority that expired a day after it was issued, long ago. */
const expiredCertificate = [
  'pki=/var/lib/minik8s/pki',
  'openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout old.key -out old.csr -subj /CN=ann',
  'faketime -f -2d openssl x509 -req -in old.csr -CA $pki/ca.crt -CAkey $pki/ca.key -days 1 -out old.crt',
];

export const certificateTroubles: readonly Trouble[] = [
  {
    entry: 'restore both files from a backup',
    elsewhere: 'test/unit/pki/credentials.test.ts',
    commands: { 'minik8s token create': /^ca-cert-hash: sha256:/m },
  },
  { entry: 'the clock of this machine says', elsewhere: 'test/unit/pki/credentials.test.ts' },
  {
    entry: 'the client certificate',
    replace: { NAME: 'zoe', FILE: 'zoe.kubeconfig' },
    commands: { 'minik8s user create NAME --file FILE': /user zoe / },
    errors: [
      {
        line: [...expiredCertificate, 'ctl get nodes --client-certificate old.crt --client-key old.key'].join(
          '\n',
        ),
        advice:
          'minik8s user create kim --role cluster-admin --file kim.kubeconfig; ctl --kubeconfig kim.kubeconfig get nodes',
        ends: /^e2e +Ready /m,
      },
    ],
  },
  {
    entry: 'the certificate of this node expired',
    elsewhere: 'test/integration/node-bootstrap/return.test.ts',
    commands: { 'minik8s token create': /^ca-cert-hash: sha256:/m },
  },
  {
    entry: 'this machine belongs to the cluster',
    elsewhere: 'test/integration/node-bootstrap/join.test.ts',
  },
];
