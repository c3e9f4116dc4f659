/** Programs that end, or are never ready. */
import type { MadeFault } from './made-fault.ts';
import { deployment, main, mount, pod, probe, shell } from './objects.ts';

export const programs: readonly MadeFault[] = [
  {
    mistake: 'a command with a typing error',
    ask: 'deployment/x',
    objects: [deployment(main({ command: ['/bin/helo'] }))],
    words: [/helo/],
  },
  {
    mistake: 'a file that may not be executed',
    ask: 'pod/x',
    objects: [pod(main({ command: ['/etc/passwd'] }))],
    words: [/permission|execut/i],
  },
  {
    mistake: 'a program that fails with a message',
    ask: 'deployment/x',
    objects: [deployment(shell('echo no database; exit 3'))],
    words: [/\b3\b/, /no database/],
  },
  {
    mistake: 'a program that ends at once without an error',
    ask: 'deployment/x',
    objects: [deployment(shell('echo done'))],
    words: [/\b(?:ended|ends|exits?|exited|completed?|finished)\b/i],
  },
  {
    mistake: 'more memory than the limit',
    ask: 'deployment/x',
    objects: [
      deployment(shell('head -c 100000000 /dev/zero | tail', { resources: { limits: { memory: '12Mi' } } })),
    ],
    words: [/memory/i],
  },
  {
    // Kubernetes replaces $$ by $.
    mistake: 'a program that ends itself by a signal',
    ask: 'pod/x',
    objects: [pod(shell("sh -c 'kill -SEGV $$$$'; exit $?"))],
    words: [/139|segmentation|SIGSEGV|signal 11/i],
  },
  {
    mistake: 'an init container that fails',
    ask: 'deployment/x',
    objects: [deployment(main(), {}, { initContainers: [{ ...shell('exit 5'), name: 'migrate' }] })],
    words: [/migrate/],
  },
  {
    mistake: 'an init container that waits for something that never comes',
    ask: 'pod/x',
    objects: [pod(main(), { initContainers: [{ ...shell('sleep 100000'), name: 'wait-for-db' }] })],
    words: [/wait-for-db/],
  },
  {
    mistake: 'a liveness probe at the wrong port',
    ask: 'deployment/x',
    objects: [
      deployment(
        main({
          livenessProbe: { httpGet: { path: '/', port: 9999 }, periodSeconds: 1, failureThreshold: 1 },
        }),
      ),
    ],
    words: [/liveness/i],
  },
  {
    mistake: 'a readiness probe that fails with a message',
    ask: 'deployment/x',
    objects: [deployment(main({ readinessProbe: probe('echo cache is cold; exit 1') }))],
    words: [/readiness|ready/i, /cache is cold/],
  },
  {
    mistake: 'a startup probe that never succeeds',
    ask: 'pod/x',
    objects: [pod(main({ startupProbe: probe('exit 1', { failureThreshold: 3 }) }))],
    words: [/startup/i],
  },
  {
    mistake: 'a postStart hook that fails',
    ask: 'pod/x',
    objects: [pod(main({ lifecycle: { postStart: { exec: { command: ['sh', '-c', 'exit 4'] } } } }))],
    words: [/postStart/i],
  },
  {
    mistake: 'a readiness gate that nothing sets',
    ask: 'pod/x',
    objects: [pod(main(), { readinessGates: [{ conditionType: 'example.org/balanced' }] })],
    words: [/example\.org\/balanced/],
  },
  {
    mistake: 'a volume that is larger than its limit',
    ask: 'pod/x',
    objects: [
      pod(
        shell('head -c 30000000 /dev/zero > /v/big; sleep 100000', {
          volumeMounts: [{ name: 'v', mountPath: '/v' }],
        }),
        { ...mount({ emptyDir: { sizeLimit: '1Mi' } }), restartPolicy: 'Never' },
      ),
    ],
    words: [/limit/i],
  },
];
