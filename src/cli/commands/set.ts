/** `ctl set`: changes one field of existing objects. The changes themselves are in `src/cli/set`. */

import { deepEqual, type JsonObject } from '../../apimachinery/equality.ts';
import { UsageError } from '../../base/usage-error.ts';
import { subjectFlags, subjectsOf } from '../create/bindings.ts';
import { amountsOf } from '../create/limits.ts';
import type { FlagTable } from '../flags/flags.ts';
import { printFlags } from '../flags/output-flags.ts';
import { changeFlags, resourceVersionFlag } from '../flags/write-options.ts';
import { localFlag, localNamespace } from '../local/local-objects.ts';
import { labelSelectorOf } from '../objects/label-selector.ts';
import { recordsAt } from '../objects/objects.ts';
import { changeObjects, type ObjectChange } from '../set/change.ts';
import { podSpecOf, withImages, withPodSpec, withResources } from '../set/pod-spec-plan.ts';
import type { Verb, VerbGroup } from '../verb.ts';
import { setEnv } from './set-env.ts';

const shared = { ...changeFlags, ...printFlags, ...localFlag } as const satisfies FlagTable;

const setImage: Verb = {
  about: 'set the images of containers',
  words: ['TYPE NAME CONTAINER=IMAGE...', 'TYPE/NAME CONTAINER=IMAGE...', '-f FILE CONTAINER=IMAGE...'],
  flags: shared,
  examples: [
    'ctl set image deployment/web nginx=nginx:1.27 # set the image of one container',
    'ctl set image -f web.yaml nginx=nginx:1.27 --local -o yaml # print the changed file',
    "ctl set image deployments --all '*=nginx:1.27' # set it for all containers",
  ],
  async run(context) {
    const all = context.flags.words;
    const words = all.filter((word) => !word.includes('='));
    const pairs = all.filter((word) => word.includes('='));
    if (pairs.length === 0) throw new UsageError('at least one image update is required');
    const images = new Map(
      pairs.map((pair) => {
        const at = pair.indexOf('=');
        const [name, image] = [pair.slice(0, at), pair.slice(at + 1)];
        if (!name || !image) throw new UsageError(`invalid image: ${pair}`);
        return [name, image] as const;
      }),
    );
    if (images.has('*') && images.size > 1)
      throw new UsageError(
        'all containers are already specified by *, but saw more than one container_name=container_image pairs',
      );
    await changeObjects(context, words, 'image', (object) =>
      withPodSpec(object, withImages(podSpecOf(object), images)),
    );
  },
};

const setResources: Verb = {
  about: 'set the resource requests and limits of containers',
  words: ['TYPE NAME', 'TYPE/NAME', '-f FILE'],
  examples: [
    'ctl set resources deployment web --requests=cpu=100m,memory=64Mi --limits=memory=128Mi # set several amounts',
    'ctl set resources deployment web -c nginx --limits=cpu=0 # remove a limit of one container',
  ],
  flags: {
    limits: { type: 'string', hint: 'RESOURCE=AMOUNT', about: 'resource limits of the containers' },
    requests: { type: 'string', hint: 'RESOURCE=AMOUNT', about: 'resource requests of the containers' },
    containers: {
      type: 'string',
      short: 'c',
      hint: 'NAME',
      about: 'containers to change; * matches any characters',
      usual: '*',
    },
    ...shared,
  },
  async run(context) {
    const { flags } = context;
    const amounts = (name: string) => amountsOf(flags.text(name));
    const [limits, requests] = [amounts('limits'), amounts('requests')];
    if (Object.keys({ ...limits, ...requests }).length === 0)
      throw new UsageError(
        'you must specify an update to requests or limits (in the form of --requests/--limits)',
      );
    const change = { limits, requests, containers: flags.text('containers') ?? '*' };
    await changeObjects(context, flags.words, 'resource requirements', (object) =>
      withPodSpec(object, withResources(podSpecOf(object), change)),
    );
  },
};

/** Splits off the last word, which names no object. */
function splitLast(words: readonly string[], missing: string): [readonly string[], string] {
  const last = words.at(-1);
  if (last === undefined) throw new UsageError(missing);
  return [words.slice(0, -1), last];
}

const setSelector: Verb = {
  about: 'set the selector of Services',
  words: ['TYPE NAME KEY=VALUE,...', 'TYPE/NAME KEY=VALUE,...'],
  flags: { ...resourceVersionFlag, ...shared },
  examples: ['ctl set selector service web app=web,tier=front # choose the pods of a Service'],
  async run(context) {
    const [words, text] = splitLast(context.flags.words, 'one selector is required');
    const { matchLabels = {}, matchExpressions } = labelSelectorOf(text);
    if (matchExpressions) throw new UsageError('match expressions are not supported on this object');
    const withSelector: ObjectChange = (object) => {
      if (object.kind !== 'Service') throw new Error('setting a selector is only supported for Services');
      const required = context.flags.text('resource-version');
      const { metadata, spec } = object as Readonly<Record<string, JsonObject>>;
      return {
        ...object,
        // The server rejects a patch with another resourceVersion than the object has.
        ...(required !== undefined && { metadata: { ...metadata, resourceVersion: required } }),
        spec: { ...spec, selector: matchLabels },
      };
    };
    await changeObjects(context, words, 'selector', withSelector, { saysUnchanged: true });
  },
};

const setServiceAccount: Verb = {
  about: 'set the service account of the pods of workloads',
  words: ['TYPE NAME ACCOUNT', 'TYPE/NAME ACCOUNT'],
  flags: shared,
  examples: ['ctl set serviceaccount deployment web robot # let the pods act as a service account'],
  async run(context) {
    const [words, account] = splitLast(context.flags.words, 'serviceaccount is required');
    const withAccount: ObjectChange = (object) =>
      withPodSpec(object, { ...podSpecOf(object), serviceAccountName: account });
    await changeObjects(context, words, 'serviceaccount', withAccount, { saysUnchanged: true });
  },
};

const setSubject: Verb = {
  about: 'add users, groups and service accounts to role bindings',
  words: ['TYPE NAME', 'TYPE/NAME'],
  flags: { ...subjectFlags, ...shared },
  examples: [
    'ctl set subject rolebinding readers --user=ann --group=staff # add a user and a group',
    'ctl set subject clusterrolebinding readers --serviceaccount=shop:robot # add a service account',
  ],
  async run(context) {
    const { flags } = context;
    const namespace = flags.on('local') ? localNamespace(context.io, flags) : context.cluster().namespace;
    const added = subjectsOf(flags, namespace);
    if (added.length === 0)
      throw new UsageError('you must specify at least one value of user, group or serviceaccount');
    await changeObjects(context, flags.words, 'subjects', (object) => {
      if (!String(object.kind).endsWith('RoleBinding'))
        throw new Error('setting subjects is only supported for RoleBinding/ClusterRoleBinding');
      const subjects = recordsAt(object, 'subjects');
      const more = added.filter((one) => !subjects.some((other) => deepEqual(one, other)));
      return more.length > 0 ? { ...object, subjects: [...subjects, ...more] } : object;
    });
  },
};

export const set: VerbGroup = {
  about: 'set one field of objects: images, variables, resources and others',
  group: 'Basic Commands (Beginner)',
  examples: [
    'ctl set image deployment/web nginx=nginx:1.27 # change the image of a container',
    'ctl set env deployment/web COLOR=blue # change a variable',
  ],
  verbs: {
    image: setImage,
    env: setEnv,
    resources: setResources,
    selector: setSelector,
    serviceaccount: setServiceAccount,
    sa: setServiceAccount,
    subject: setSubject,
  },
};
