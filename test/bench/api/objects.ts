/** Objects that the clients of both servers write. */

/** Path of the pods that are read and changed. */
export const filled = '/api/v1/namespaces/filled/pods';
/** Path of the pods that are created. */
export const created = '/api/v1/namespaces/created/pods';
/** Path of the objects that are watched. */
export const watched = '/api/v1/namespaces/watched/configmaps';
export const namespaces = ['filled', 'created', 'watched'];

const envs = Array.from({ length: 24 }, (_, number) => ({
  name: `SETTING_NUMBER_${number}`,
  value: `the value of setting ${number} of this container`,
}));

/**
 * Returns a pod of about 3 KB when stored. No scheduler binds it, and it needs no token, which one of the
 * servers could not issue.
 */
export const pod = (name: string) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name,
    labels: { app: 'bench', tier: 'backend', 'app.kubernetes.io/name': 'bench' },
    annotations: { 'bench.example.com/note': 'x'.repeat(120), 'bench.example.com/count': '0' },
  },
  spec: {
    schedulerName: 'nobody',
    automountServiceAccountToken: false,
    containers: [
      {
        name: 'main',
        image: 'registry.example.com/bench/main:1.2.3',
        args: ['--listen=0.0.0.0:8080', '--log-level=info'],
        ports: [{ name: 'http', containerPort: 8080 }],
        env: envs,
        resources: { requests: { cpu: '100m', memory: '64Mi' }, limits: { memory: '128Mi' } },
        volumeMounts: [{ name: 'scratch', mountPath: '/scratch' }],
      },
    ],
    volumes: [{ name: 'scratch', emptyDir: {} }],
  },
});

export const podName = (number: number) => `pod-${number}`;
