/** `ctl expose`: creates a Service for the pods of an object. */
import { serviceFor } from '../create/expose-plan.ts';
import { overrideFlags, withOverrides } from '../create/overrides.ts';
import { madeFormats, makingFlags, writeMade } from '../create/write-made.ts';
import { type FlagTable, fileFlags } from '../flags/flags.ts';
import { forEachReported } from '../for-each-reported.ts';
import { targetPath } from '../objects/object-target.ts';
import { requireSelection, resolveObjects } from '../objects/targets.ts';
import type { Verb } from '../verb.ts';

const flagTable = {
  port: { type: 'string', hint: 'PORT', about: 'port of the Service', usual: "the object's ports" },
  'target-port': {
    type: 'string',
    hint: 'PORT',
    about: 'port, or name of the port, of the containers',
    usual: 'the same as --port',
  },
  protocol: { type: 'string', hint: 'TCP|UDP|SCTP', about: 'protocol of the ports', usual: "the object's" },
  type: {
    type: 'string',
    hint: 'ClusterIP|NodePort|LoadBalancer|ExternalName',
    about: 'type of the Service',
    usual: 'ClusterIP',
  },
  name: { type: 'string', hint: 'NAME', about: 'name of the Service', usual: 'name of the object' },
  selector: { type: 'string', hint: 'KEY=VALUE,…', about: 'selector of the Service', usual: "the object's" },
  labels: {
    type: 'string',
    short: 'l',
    hint: 'KEY=VALUE,…',
    about: 'labels of the Service',
    usual: "the object's",
  },
  'cluster-ip': {
    type: 'string',
    hint: 'IP|None',
    about: 'address of the Service; None: headless',
    usual: 'a free one',
  },
  'external-ip': { type: 'string', hint: 'IP', about: 'additional address outside the cluster' },
  'load-balancer-ip': { type: 'string', hint: 'IP', about: 'address of the load balancer' },
  'session-affinity': {
    type: 'string',
    hint: 'None|ClientIP',
    about: 'whether requests of one client reach the same pod',
    usual: 'None',
  },
  ...overrideFlags,
  ...fileFlags,
  ...makingFlags,
} as const satisfies FlagTable;

export const expose: Verb = {
  about: 'create a Service for the pods of an object',
  group: 'Basic Commands (Beginner)',
  words: ['TYPE NAME', 'TYPE/NAME', '-f FILE'],
  flags: flagTable,
  examples: [
    'ctl expose deployment web --port=80 --target-port=8080 # create a Service for a Deployment',
    'ctl expose pod db --port=5432 # create one for a pod',
  ],
  async run(context) {
    // The selector is the one of the new Service, and selects no objects to expose.
    const named = { ...context, flags: context.flags.without('selector') };
    requireSelection(named.flags);
    const formats = madeFormats(context);
    await forEachReported(context, await resolveObjects(named), async (target) => {
      const { resource, name, manifest } = target;
      const object = manifest?.object ?? (await context.cluster().get(targetPath(target)));
      const made = serviceFor({ object, kind: resource.kind, group: resource.group, name }, context.flags);
      const service = await withOverrides(context.io, context.flags, made, 'core.v1.Service');
      await writeMade(context, service, { resource: 'services' }, 'exposed', formats);
    });
  },
};
