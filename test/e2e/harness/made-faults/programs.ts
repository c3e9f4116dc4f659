/** Programs that end, or are never ready. */
import type { MadeFault } from './made-fault.ts';
import { deployment, main, mount, pod, probe, removing, setCondition, shell } from './objects.ts';

export const programs: readonly MadeFault[] = [
  {
    mistake: 'a command with a typing error',
    ask: 'deployment/x',
    objects: [deployment(main({ command: ['/bin/helo'] }))],
    words: [/helo/],
    mend: { run: [removing('containers/0/command')] },
  },
  {
    mistake: 'a file that may not be executed',
    ask: 'pod/x',
    objects: [pod(main({ command: ['/etc/passwd'] }))],
    words: [/permission|execut/i],
    mend: { again: [pod()] },
  },
  {
    mistake: 'a program that fails with a message',
    ask: 'deployment/x',
    objects: [deployment(shell('echo no database; exit 3'))],
    words: [/\b3\b/, /no database/],
    mend: { run: [removing('containers/0/command')] },
  },
  {
    mistake: 'a program that ends at once without an error',
    ask: 'deployment/x',
    objects: [deployment(shell('echo done'))],
    words: [/\b(?:ended|ends|exits?|exited|completed?|finished)\b/i],
    mend: { run: [removing('containers/0/command')] },
  },
  {
    mistake: 'more memory than the limit',
    ask: 'deployment/x',
    objects: [
      deployment(
        shell('head -c 100000000 /dev/zero | tail >/dev/null && sleep 100000', {
          resources: { limits: { memory: '12Mi' } },
        }),
      ),
    ],
    words: [/memory/i],
    mend: { named: { gaps: { MORE: '300Mi' } } },
  },
  {
    // Kubernetes replaces $$ by $.
    mistake: 'a program that ends itself by a signal',
    ask: 'pod/x',
    objects: [pod(shell("sh -c 'kill -SEGV $$$$'; exit $?"))],
    words: [/139|segmentation|SIGSEGV|signal 11/i],
    mend: { again: [pod()] },
  },
  {
    mistake: 'an init container that fails',
    ask: 'deployment/x',
    objects: [deployment(main(), {}, { initContainers: [{ ...shell('exit 5'), name: 'migrate' }] })],
    words: [/migrate/],
    mend: { run: [removing('initContainers')] },
  },
  {
    mistake: 'an init container that waits for something that never comes',
    ask: 'pod/x',
    objects: [pod(main(), { initContainers: [{ ...shell('sleep 100000'), name: 'wait-for-db' }] })],
    words: [/wait-for-db/],
    mend: { again: [pod()] },
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
    mend: { run: [removing('containers/0/livenessProbe')] },
  },
  {
    mistake: 'a readiness probe that fails with a message',
    ask: 'deployment/x',
    objects: [deployment(main({ readinessProbe: probe('echo cache is cold; exit 1') }))],
    words: [/readiness|ready/i, /cache is cold/],
    mend: { run: [removing('containers/0/readinessProbe')] },
  },
  {
    mistake: 'a startup probe that never succeeds',
    ask: 'pod/x',
    objects: [pod(main({ startupProbe: probe('exit 1', { failureThreshold: 3 }) }))],
    words: [/startup/i],
    mend: { again: [pod()] },
  },
  {
    mistake: 'a postStart hook that fails',
    ask: 'pod/x',
    objects: [pod(main({ lifecycle: { postStart: { exec: { command: ['sh', '-c', 'exit 4'] } } } }))],
    words: [/postStart/i],
    mend: { again: [pod()] },
  },
  {
    mistake: 'a readiness gate that nothing sets',
    ask: 'pod/x',
    objects: [pod(main(), { readinessGates: [{ conditionType: 'example.org/balanced' }] })],
    words: [/example\.org\/balanced/],
    mend: { run: [setCondition('example.org/balanced')] },
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
    mend: { named: {}, add: [pod()] },
  },
];
