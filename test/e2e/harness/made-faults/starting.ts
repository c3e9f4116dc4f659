/** Pods that do not start: their images, and settings and volumes that do not exist. */
import { helloImage } from '../images.ts';
import type { MadeFault } from './made-fault.ts';
import { claim, deployment, main, mount, mounting, pod } from './objects.ts';

export const starting: readonly MadeFault[] = [
  {
    mistake: 'an image that is not there and may not be pulled',
    ask: 'deployment/x',
    objects: [deployment(main({ image: 'shop/web:7', imagePullPolicy: 'Never' }))],
    words: [/shop\/web:7/, /pull/i],
    mend: { named: { of: /=IMAGE$/, gaps: { IMAGE: helloImage } } },
  },
  {
    mistake: 'an image name in upper case',
    ask: 'pod/x',
    objects: [pod(main({ image: 'Shop/Web:7' }))],
    words: [/Shop\/Web:7/, /invalid|name|lower/i],
    mend: { named: { gaps: { IMAGE: helloImage } } },
  },
  {
    mistake: 'a registry at a port where nothing listens',
    ask: 'deployment/x',
    objects: [deployment(main({ image: '127.0.0.1:9/shop/web:7' }))],
    words: [/127\.0\.0\.1:9/, /registry|reach|connect|refused/i],
    mend: { named: { gaps: { IMAGE: helloImage } } },
  },
  {
    mistake: 'envFrom a ConfigMap that does not exist',
    ask: 'deployment/x',
    objects: [deployment(main({ envFrom: [{ configMapRef: { name: 'settings' } }] }))],
    words: [/settings/, /ConfigMap/i],
    mend: { named: {} },
  },
  {
    mistake: 'a Secret that does not exist',
    ask: 'pod/x',
    objects: [
      pod(main({ env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 'password', key: 'word' } } }] })),
    ],
    words: [/password/, /Secret/i],
    mend: { named: {} },
  },
  {
    mistake: 'a key that the Secret does not have',
    ask: 'pod/x',
    objects: [
      { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'password' }, stringData: { pass: 'a' } },
      pod(main({ env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 'password', key: 'word' } } }] })),
    ],
    words: [/word/, /key/i],
    mend: { named: {} },
  },
  {
    mistake: 'a volume of a ConfigMap that does not exist',
    ask: 'deployment/x',
    objects: [deployment(mounting, {}, mount({ configMap: { name: 'pages' } }))],
    words: [/pages/],
    mend: { named: {} },
  },
  {
    mistake: 'an item that the ConfigMap of a volume does not have',
    ask: 'pod/x',
    objects: [
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'pages' }, data: { 'a.html': 'a' } },
      pod(mounting, mount({ configMap: { name: 'pages', items: [{ key: 'b.html', path: 'b' }] } })),
    ],
    words: [/b\.html/],
    mend: { again: [pod(mounting, mount({ configMap: { name: 'pages' } }))] },
  },
  {
    mistake: 'a directory of the machine that does not exist',
    ask: 'pod/x',
    objects: [pod(mounting, mount({ hostPath: { path: '/no/such/place', type: 'Directory' } }))],
    words: [/\/no\/such\/place/],
    mend: { again: [pod(mounting, mount({ hostPath: { path: '/tmp', type: 'Directory' } }))] },
  },
  {
    mistake: 'a claim that does not exist',
    ask: 'deployment/x',
    objects: [deployment(mounting, {}, mount({ persistentVolumeClaim: { claimName: 'data' } }))],
    words: [/data/],
    mend: { add: [claim({})] },
  },
  {
    mistake: 'runAsNonRoot with an image of root',
    ask: 'pod/x',
    objects: [pod(main({ securityContext: { runAsNonRoot: true } }))],
    words: [/root/i],
    mend: { again: [pod(main({ securityContext: { runAsNonRoot: true, runAsUser: 1000 } }))] },
  },
  {
    mistake: 'a service account that does not exist',
    ask: 'deployment/x',
    objects: [deployment(main(), {}, { serviceAccountName: 'robot' })],
    words: [/robot/],
    mend: { named: {} },
  },
];
