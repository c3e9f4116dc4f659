/** Sources of a Trigger, which has exactly one of these fields. */
import * as v from 'valibot';
import { int64, struct } from '../../../apimachinery/schema.ts';

/** Description of a field for `kubectl explain` and `ctl explain`. */
const text = v.description<string, string>;

export const httpMethods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
export const changeTypes = ['Created', 'Updated', 'Deleted'] as const;
export type ChangeType = (typeof changeTypes)[number];
export const outcomes = ['Success', 'Failure'] as const;
export type CallOutcome = (typeof outcomes)[number];

const cron = struct({
  schedule: v.pipe(
    v.string(),
    text('When, in the form of a CronJob: five fields, or such as @hourly or @every 10m.'),
  ),
  timeZone: v.optional(v.pipe(v.string(), text('The time zone of the schedule. Defaults to UTC.'))),
  startingDeadlineSeconds: v.optional(
    v.pipe(int64(), v.description('After how many seconds a time that was missed is no longer made up for.')),
  ),
});

const http = struct({
  path: v.pipe(
    v.string(),
    text(
      'The path below /trigger/NAMESPACE on the port of the gateway, such as /orders. No other trigger of the namespace has it.',
    ),
  ),
  methods: v.optional(
    v.pipe(v.array(v.picklist(httpMethods)), v.description('The methods that are taken. Defaults to POST.')),
    ['POST'],
  ),
  public: v.optional(
    v.pipe(
      v.boolean(),
      v.description(
        'Whether everybody may send a request. Otherwise senders need the verb create on triggers/invoke. Defaults to false.',
      ),
    ),
    false,
  ),
});

const object = struct({
  apiVersion: v.pipe(v.string(), text('Group and version of the kind, such as v1 or apps/v1.')),
  kind: v.pipe(v.string(), text('The kind of the objects, such as Pod. It may be served later.')),
  namespace: v.optional(
    v.pipe(v.string(), text('The namespace of the objects; "*" for all. Defaults to that of the trigger.')),
  ),
  labelSelector: v.optional(
    v.pipe(v.string(), text('Only objects with these labels, in the form of kubectl get --selector.')),
  ),
  fieldSelector: v.optional(
    v.pipe(v.string(), text('Only objects with these fields, in the form of kubectl get --field-selector.')),
  ),
  types: v.optional(
    v.pipe(
      v.array(v.picklist(changeTypes)),
      v.description(
        'Which changes are told: Created, Updated, Deleted. One that begins to be selected counts as created, one that ' +
          'ends to be as deleted. Defaults to all.',
      ),
    ),
    [...changeTypes],
  ),
});

const result = struct({
  function: v.pipe(v.string(), text('Name of the Function, in the namespace of the trigger.')),
  outcomes: v.optional(
    v.pipe(
      v.array(v.picklist(outcomes)),
      v.description(
        'Which results are told: Success, an answer of 2xx, or Failure, any other. Defaults to both.',
      ),
    ),
    [...outcomes],
  ),
});

const file = struct({
  claimName: v.optional(
    v.pipe(
      v.string(),
      text(
        'A PersistentVolumeClaim of the namespace: the node that has its volume watches. Either this or folder is set.',
      ),
    ),
  ),
  path: v.optional(
    v.pipe(
      v.string(),
      text(
        'The folder in the volume, such as in/new. Defaults to the volume itself. No part of it may be a link.',
      ),
    ),
  ),
  folder: v.optional(
    v.pipe(
      v.string(),
      text('A folder of nodes, as an absolute path: a node watches it that allows it by --watch-folder.'),
    ),
  ),
  nodeSelector: v.optional(
    v.pipe(
      v.record(v.string(), v.string()),
      v.description('Only nodes with these labels watch the folder. Defaults to all.'),
    ),
  ),
  pattern: v.optional(
    v.pipe(v.string(), text('Only files whose name is such, like *.csv or [!.]*. Defaults to all.')),
  ),
  types: v.optional(
    v.pipe(
      v.array(v.picklist(changeTypes)),
      v.description(
        'Which changes are told: Created, Updated, Deleted. A file is told when it has been at rest for a second. Defaults to all.',
      ),
    ),
    [...changeTypes],
  ),
  recursive: v.optional(
    v.pipe(v.boolean(), v.description('Whether the folders in it are watched too. Defaults to false.')),
    false,
  ),
  includeContent: v.optional(
    v.pipe(
      v.boolean(),
      v.description('Whether a file of at most 64 KiB is told with what is in it. Defaults to false.'),
    ),
    false,
  ),
});

export const sourceFields = {
  cron: v.optional(v.pipe(cron, v.description('Times by a schedule.'))),
  http: v.optional(v.pipe(http, v.description('Requests by HTTP.'))),
  object: v.optional(v.pipe(object, v.description('Changes of objects of the cluster.'))),
  result: v.optional(v.pipe(result, v.description('What calls of a function gave.'))),
  file: v.optional(v.pipe(file, v.description('Changes of files in a folder.'))),
};

export const sourceNames = ['cron', 'http', 'object', 'result', 'file'] as const;
