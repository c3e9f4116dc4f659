/** The Trigger that flags describe. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { UsageError } from '../../base/usage-error.ts';
import type { Flags, FlagTable } from '../flags.ts';

export const triggerFlags = {
  function: { type: 'string', hint: 'NAME', about: 'the function that is called' },
  workflow: { type: 'string', hint: 'NAME', about: 'the workflow that is run, instead of a function' },
  schedule: { type: 'string', hint: 'SCHEDULE', about: 'at these times, such as "*/5 * * * *" or @hourly' },
  'time-zone': { type: 'string', hint: 'ZONE', about: 'the time zone of --schedule', usual: 'UTC' },
  path: { type: 'string', hint: '/PATH', about: 'for requests to /trigger/NAMESPACE/PATH of the gateway' },
  method: {
    type: 'string',
    hint: 'METHOD',
    about: 'a method that --path takes; may be repeated',
    usual: 'POST',
  },
  public: { type: 'boolean', about: 'everybody may send requests to --path' },
  object: {
    type: 'string',
    hint: 'VERSION/KIND',
    about: 'for changes of objects, such as v1/Pod or apps/v1/Deployment',
  },
  change: {
    type: 'string',
    hint: 'Created|Updated|Deleted',
    about: 'a change that --object tells; may be repeated',
    usual: 'all',
  },
  selector: { type: 'string', short: 'l', hint: 'SELECTOR', about: 'only objects whose labels match' },
  'field-selector': { type: 'string', hint: 'SELECTOR', about: 'only objects whose fields match' },
  serviceaccount: {
    type: 'string',
    hint: 'NAME',
    about: 'the account that watches the objects',
    usual: 'default',
  },
  'result-of': { type: 'string', hint: 'FUNCTION', about: 'for what calls of this function give' },
  outcome: {
    type: 'string',
    hint: 'Success|Failure',
    about: 'a result that --result-of tells; may be repeated',
    usual: 'both',
  },
  input: { type: 'string', hint: 'JSON', about: 'JSON that is given along with each event' },
  'max-attempts': { type: 'string', hint: 'NUMBER', about: 'how often an event is tried', usual: '5' },
} as const satisfies FlagTable;

const sources = ['schedule', 'path', 'object', 'result-of'] as const;
type Source = (typeof sources)[number];

/** Flags that mean nothing without another one. */
const parts: Readonly<Record<Source, readonly string[]>> = {
  schedule: ['time-zone'],
  path: ['method', 'public'],
  object: ['change', 'selector', 'field-selector', 'serviceaccount'],
  'result-of': ['outcome'],
};

export function triggerSpec(flags: Flags): JsonObject {
  const targets = (['function', 'workflow'] as const).filter((flag) => flags.given(flag));
  const given = sources.filter((flag) => flags.given(flag));
  const [target] = targets;
  const [source] = given;
  if (target === undefined || targets.length > 1)
    throw new UsageError('ctl trigger create: say what is called: one of --function and --workflow');
  if (source === undefined || given.length > 1)
    throw new UsageError(
      `ctl trigger create: say when: one of ${sources.map((flag) => `--${flag}`).join(', ')}`,
    );
  for (const [other, some] of Object.entries(parts)) {
    const wrong = other === source ? undefined : some.find((flag) => flags.given(flag));
    if (wrong !== undefined) throw new UsageError(`ctl trigger create: --${wrong} is for --${other}`);
  }
  const [input, account, attempts] = [
    flags.text('input'),
    flags.text('serviceaccount'),
    flags.whole('max-attempts'),
  ];
  return {
    target: { kind: target === 'function' ? 'Function' : 'Workflow', name: flags.text(target) },
    ...sourceSpec(flags, source),
    ...(input !== undefined && { input: jsonOf(input) }),
    ...(account !== undefined && { serviceAccountName: account }),
    ...(attempts !== undefined && { retry: { maxAttempts: attempts } }),
  };
}

function sourceSpec(flags: Flags, source: Source): JsonObject {
  const text = flags.text(source) ?? '';
  const list = (flag: string, field: string) => {
    const values = flags.texts(flag);
    return values.length > 0 && { [field]: values };
  };
  const one = (flag: string, field: string) => {
    const value = flags.text(flag);
    return value !== undefined && { [field]: value };
  };
  switch (source) {
    case 'schedule':
      return { cron: { schedule: text, ...one('time-zone', 'timeZone') } };
    case 'path':
      return {
        http: { path: text, ...list('method', 'methods'), ...(flags.on('public') && { public: true }) },
      };
    case 'object': {
      const at = text.lastIndexOf('/');
      if (at < 1)
        throw new UsageError(
          `ctl trigger create: --object takes VERSION/KIND such as v1/Pod, not ${JSON.stringify(text)}`,
        );
      const kind = { apiVersion: text.slice(0, at), kind: text.slice(at + 1) };
      const selected = { ...one('selector', 'labelSelector'), ...one('field-selector', 'fieldSelector') };
      return { object: { ...kind, ...selected, ...list('change', 'types') } };
    }
    case 'result-of':
      return { result: { function: text, ...list('outcome', 'outcomes') } };
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UsageError(`ctl trigger create: --input is no JSON: ${(error as Error).message}`);
  }
}
