/** States of the features' objects. */
import type { JsonObject } from '../../../src/apimachinery/equality.ts';
import type { KindKey, ObjectRef } from '../../../src/why/kinds.ts';
import type { Case } from './why-cases.ts';
import { condition, event, node, object } from './why-objects.ts';

const about = (key: KindKey): ObjectRef => ({ key, namespace: 'default', name: 'web' });
const notReady = (reason: string, message: string) => [condition('Ready', 'False', reason, message)];

const fn = (reason: string, message: string, more: JsonObject = {}, spec: JsonObject = {}) =>
  object('Function', 'web', { spec, status: { conditions: notReady(reason, message), ...more } });

const functionCase = (object: JsonObject, rest: Omit<Case, 'about' | 'objects'>): Case => ({
  ...rest,
  about: about('functions.minik8s.io'),
  objects: { 'functions.minik8s.io': [object] },
});

const functions: readonly Case[] = [
  functionCase(fn('FunctionBuildFailed', 'pip: looking\nERROR: No matching distribution found for flsk'), {
    rule: 'function-build',
    says: /its image cannot be built: ERROR: No matching distribution found for flsk/,
    evidence: /pip: looking/,
    mend: /^function update web -n default --from FOLDER$/,
  }),
  functionCase(
    fn(
      'ErrImagePull',
      'image minik8s/python:1: no such host',
      {},
      { runtime: 'python', files: { 'a.py': '' } },
    ),
    {
      rule: 'function-image',
      says: /the image of its runtime python cannot be pulled/,
      mend: /^image load minik8s\/python:1$/,
    },
  ),
  functionCase(fn('ImagePullBackOff', 'back-off', {}, { image: 'shop/fn:1' }), {
    rule: 'function-image',
    says: /its image shop\/fn:1 cannot be pulled/,
    mend: /^image load shop\/fn:1$/,
  }),
  functionCase(
    fn('StartFailed', 'main.py:3: SyntaxError: bad\n(web-1 is called meanwhile)', { activeVersion: 'web-1' }),
    {
      rule: 'function-not-ready',
      says: /its program does not start: main\.py:3: SyntaxError: bad/,
      mend: /^function update web/,
    },
  ),
];

const trigger = (more: JsonObject) =>
  object('Trigger', 'web', { spec: { target: { kind: 'Function', name: 'shop' } }, ...more });
const triggerCase = (one: JsonObject, rest: Omit<Case, 'about'>): Case => ({
  ...rest,
  about: about('triggers.minik8s.io'),
  objects: { 'triggers.minik8s.io': [one], ...rest.objects },
});
const broken = object('Function', 'shop', {
  status: { conditions: notReady('StartFailed', 'main.py:1: NameError: x') },
});

const triggers: readonly Case[] = [
  triggerCase(trigger({ spec: { suspend: true } }), {
    rule: 'trigger-suspended',
    objects: {},
    says: /it is suspended/,
    mend: /"suspend":false/,
  }),
  triggerCase(trigger({ status: { conditions: notReady('TargetMissing', 'there is no function "shop"') } }), {
    rule: 'trigger-not-ready',
    objects: {},
    says: /there is no function "shop"/,
    mend: /^function create shop -n default --from FOLDER$/,
  }),
  triggerCase(trigger({ status: { conditions: notReady('NotAllowed', 'pods is forbidden') } }), {
    rule: 'trigger-not-ready',
    objects: {},
    says: /pods is forbidden/,
    mend: /^create rolebinding web -n default --clusterrole=view --serviceaccount=default:default$/,
  }),
  triggerCase(trigger({ status: { deadLetters: 2 } }), {
    rule: 'trigger-dead-letters',
    objects: {
      'functions.minik8s.io': [broken],
      events: [event('Trigger', 'web', 'DeadLetter', 'after 5 attempts: answered 500')],
    },
    says: /2 events could not be delivered to function shop/,
    evidence: /answered 500/,
    first: 'function-not-ready',
  }),
  triggerCase(
    trigger({ status: { pending: 1000, conditions: [condition('Backlogged', 'True', '', '1000 wait')] } }),
    {
      rule: 'trigger-backlog',
      objects: {},
      says: /1000 wait/,
    },
  ),
];

const history = [
  { type: 'TaskScheduled', state: 'Pay', detail: { resource: 'function:shop' } },
  { type: 'TaskFailed', state: 'Pay', detail: { error: 'CardRefused' } },
  { type: 'ExecutionFailed' },
];
const run = object('WorkflowRun', 'web-1', {
  metadata: { ownerReferences: [{ kind: 'Workflow', name: 'web', uid: 'uid-of-Workflow-web' }] },
  spec: { workflow: 'web' },
  status: {
    phase: 'Failed',
    completionTime: '2026-01-01T11:00:00Z',
    ...{ error: 'CardRefused', cause: 'no money', history },
  },
});
const runRef: ObjectRef = { key: 'workflowruns.minik8s.io', namespace: 'default', name: 'web-1' };
const workflows: readonly Case[] = [
  {
    rule: 'workflow-last-run',
    about: about('workflows.minik8s.io'),
    objects: { 'workflows.minik8s.io': [object('Workflow', 'web')], 'workflowruns.minik8s.io': [run] },
    says: /its last run web-1 has failed/,
    first: 'workflow-run-failed',
  },
  {
    rule: 'workflow-run-failed',
    about: runRef,
    objects: { 'workflowruns.minik8s.io': [run], 'functions.minik8s.io': [broken] },
    says: /state Pay has failed with CardRefused: no money/,
    evidence: /calls function:shop/,
    first: 'function-not-ready',
  },
  {
    rule: 'workflow-run-waiting',
    about: runRef,
    objects: {
      'workflowruns.minik8s.io': [
        object('WorkflowRun', 'web-1', {
          spec: { workflow: 'order' },
          status: { conditions: [condition('Started', 'False', 'WorkflowNotFound', 'no workflow order')] },
        }),
      ],
    },
    says: /no workflow order/,
    mend: /^workflow create order -n default --definition FILE$/,
  },
];

const slurm = (status: JsonObject, spec: JsonObject = {}) =>
  object('SlurmJob', 'web', { spec: { connection: { secretName: 'hpc' }, ...spec }, status });
const failed = (reason: string, message: string, more: JsonObject = {}) => ({
  phase: 'Failed',
  conditions: [condition('Failed', 'True', reason, message)],
  ...more,
});
const slurmCase = (one: JsonObject, rest: Omit<Case, 'about' | 'objects'>, secrets?: JsonObject[]): Case => ({
  ...rest,
  about: about('slurmjobs.minik8s.io'),
  objects: { 'slurmjobs.minik8s.io': [one], ...(secrets && { secrets }) },
});

const slurmJobs: readonly Case[] = [
  slurmCase(
    slurm({}),
    {
      rule: 'slurm-connection',
      says: /the Secret hpc of its connection does not exist in namespace default/,
      mend: /^create secret generic hpc -n default --from-literal=host=HOST/,
    },
    [],
  ),
  slurmCase(
    slurm({
      phase: 'Waiting',
      conditions: [condition('Connected', 'False', 'HostKeyUnknown', 'key is new')],
    }),
    { rule: 'slurm-connection', says: /cannot be used: key is new/, mend: /^edit secret hpc -n default$/ },
  ),
  slurmCase(slurm(failed('SubmitRefused', 'invalid partition specified: gpuu'), { partition: 'gpuu' }), {
    rule: 'slurm-refused',
    says: /Slurm has refused it: invalid partition specified: gpuu/,
    evidence: /spec\.partition: gpuu/,
    mend: /^delete slurmjob web -n default$/,
  }),
  slurmCase(slurm(failed('TIMEOUT', 'Slurm reports TIMEOUT', { state: 'TIMEOUT' })), {
    rule: 'slurm-failed',
    says: /it has failed: Slurm reports TIMEOUT/,
    mend: /^logs slurmjob\/web -n default$/,
  }),
  slurmCase(slurm({ phase: 'Submitted', state: 'PENDING', reason: 'QOSMaxCpuPerUserLimit', jobID: '7' }), {
    rule: 'slurm-waiting',
    says: /a limit of its account or quality of service is reached/,
    evidence: /QOSMaxCpuPerUserLimit, job 7/,
  }),
  slurmCase(slurm({ phase: 'Submitted', state: 'PENDING', reason: 'Reservation' }), {
    rule: 'slurm-waiting',
    says: /Slurm has not started it: Reservation/,
  }),
  slurmCase(
    slurm({
      phase: 'Uploading',
      conditions: [condition('Submitted', 'False', 'QueueFull', 'too many jobs')],
    }),
    { rule: 'slurm-step', says: /tried again: too many jobs/ },
  ),
];

const path = { path: '/', serviceName: 'shop', servicePort: 80 };
const dns = (reason: string, message: string) =>
  object('Dns', 'web', {
    spec: { host: 'shop.example', paths: [path] },
    status: { conditions: reason ? notReady(reason, message) : [condition('Ready', 'True')] },
  });
const dnsCase = (one: JsonObject, rest: Omit<Case, 'about'>): Case => ({
  ...rest,
  about: about('dnses.minik8s.io'),
  objects: { 'dnses.minik8s.io': [one], ...rest.objects },
});
const shop = object('Service', 'shop', { spec: { selector: { app: 'shop' }, ports: [{ port: 8080 }] } });

const hostNames: readonly Case[] = [
  dnsCase(dns('HostTaken', 'host shop.example is not served: it belongs to the namespace other'), {
    rule: 'dns-host',
    objects: {},
    says: /belongs to the namespace other/,
    mend: /^edit dns web -n default$/,
  }),
  dnsCase(dns('ServiceNotFound', 'path /: service "shop" not found'), {
    rule: 'dns-service',
    objects: { services: [] },
    says: /service "shop" not found/,
    mend: /^create service clusterip shop -n default --tcp=80$/,
  }),
  dnsCase(dns('PortNotFound', 'path /: service "shop" has no TCP port 80'), {
    rule: 'dns-service',
    objects: { services: [shop] },
    says: /no TCP port 80/,
    evidence: /service shop has the ports 8080/,
    mend: /^edit dns web -n default$/,
  }),
  dnsCase(dns('NoNodes', 'no node is ready to serve Dns objects'), {
    rule: 'dns-served',
    objects: { nodes: [node('n1', { status: { conditions: [condition('Ready', 'Unknown')] } })] },
    says: /no node is ready/,
    first: 'node-not-ready',
  }),
  dnsCase(dns('PortTaken', '1 of 1 nodes do not serve Dns objects: n1: port 80 is taken'), {
    rule: 'dns-served',
    objects: {},
    says: /port 80 is taken/,
    mend: /end the program that uses port 80/,
  }),
  dnsCase(dns('', ''), {
    rule: 'dns-endpoints',
    objects: { services: [shop], pods: [] },
    says: /the Service shop of the path \/ has no ready pods/,
    first: 'service-selector',
  }),
];

export const featureCases: readonly Case[] = [
  ...functions,
  ...triggers,
  ...workflows,
  ...slurmJobs,
  ...hostNames,
];
