/** The Trigger that flags describe. */
import type { JsonObject } from '../../../apimachinery/equality.ts';
import { UsageError } from '../../../base/usage-error.ts';
import { type Flags, under } from '../../../cli/flags/flags.ts';

export const triggerFlags = under('The trigger', {
  function: { type: 'string', hint: 'NAME', about: 'function to call' },
  workflow: { type: 'string', hint: 'NAME', about: 'workflow to run, instead of a function' },
  schedule: { type: 'string', hint: 'SCHEDULE', about: 'schedule, such as "*/5 * * * *" or @hourly' },
  'time-zone': { type: 'string', hint: 'ZONE', about: 'time zone of --schedule', usual: 'UTC' },
  path: {
    type: 'string',
    hint: '/PATH',
    about: 'trigger on requests to /trigger/NAMESPACE/PATH of the gateway',
  },
  method: {
    type: 'string',
    hint: 'METHOD',
    about: 'HTTP method that --path accepts; may be repeated',
    usual: 'POST',
  },
  public: { type: 'boolean', about: 'allow requests to --path without authentication' },
  object: {
    type: 'string',
    hint: 'VERSION/KIND',
    about: 'trigger on changes of objects, such as v1/Pod or apps/v1/Deployment',
  },
  change: {
    type: 'string',
    hint: 'Created|Updated|Deleted',
    about: 'type of change of objects or files to report; may be repeated',
    usual: 'all',
  },
  selector: { type: 'string', short: 'l', hint: 'SELECTOR', about: 'only objects whose labels match' },
  'field-selector': { type: 'string', hint: 'SELECTOR', about: 'only objects whose fields match' },
  serviceaccount: {
    type: 'string',
    hint: 'NAME',
    about: 'service account that watches the objects',
    usual: 'default',
  },
  'result-of': { type: 'string', hint: 'FUNCTION', about: 'trigger on results of calls of this function' },
  outcome: {
    type: 'string',
    hint: 'Success|Failure',
    about: 'outcome that --result-of reports; may be repeated',
    usual: 'both',
  },
  'file-claim': {
    type: 'string',
    hint: 'CLAIM[/PATH]',
    about: 'trigger on files in the volume of this claim, or a directory of it',
  },
  'file-folder': {
    type: 'string',
    hint: '/DIR',
    about: 'trigger on files in this directory of nodes that allow it (--watch-folder)',
  },
  'node-selector': {
    type: 'string',
    hint: 'KEY=VALUE,…',
    about: 'only nodes with these labels watch --file-folder',
    usual: 'all',
  },
  pattern: { type: 'string', hint: 'GLOB', about: 'only files whose name matches, such as "*.csv"' },
  recursive: { type: 'boolean', about: 'include files in subdirectories' },
  'include-content': { type: 'boolean', about: 'include the content of files of at most 64 KiB' },
  input: { type: 'string', hint: 'JSON', about: 'JSON to pass along with each event' },
  'max-attempts': {
    type: 'string',
    hint: 'NUMBER',
    about: 'maximum number of delivery attempts per event',
    usual: '5',
  },
});

const sources = ['schedule', 'path', 'object', 'result-of', 'file-claim', 'file-folder'] as const;
type Source = (typeof sources)[number];

const ofFiles = ['change', 'pattern', 'recursive', 'include-content'];

/** Flags that may be given only with the flag of a source. */
const parts: Readonly<Record<Source, readonly string[]>> = {
  schedule: ['time-zone'],
  path: ['method', 'public'],
  object: ['change', 'selector', 'field-selector', 'serviceaccount'],
  'result-of': ['outcome'],
  'file-claim': ofFiles,
  'file-folder': [...ofFiles, 'node-selector'],
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
  const wrong = Object.values(parts)
    .flat()
    .find((flag) => flags.given(flag) && !parts[source].includes(flag));
  if (wrong !== undefined) {
    const of = sources.filter((one) => parts[one].includes(wrong)).map((one) => `--${one}`);
    throw new UsageError(`ctl trigger create: --${wrong} is for ${of.join(' and ')}`);
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
  const ofFile = () => ({
    ...one('pattern', 'pattern'),
    ...list('change', 'types'),
    ...(flags.on('recursive') && { recursive: true }),
    ...(flags.on('include-content') && { includeContent: true }),
  });
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
    case 'file-claim': {
      const [claimName = '', ...path] = text.split('/');
      return { file: { claimName, ...(path.length > 0 && { path: path.join('/') }), ...ofFile() } };
    }
    case 'file-folder': {
      const labels = flags.text('node-selector');
      return {
        file: { folder: text, ...(labels !== undefined && { nodeSelector: labelsOf(labels) }), ...ofFile() },
      };
    }
    case 'result-of':
      return { result: { function: text, ...list('outcome', 'outcomes') } };
  }
}

function labelsOf(text: string): JsonObject {
  return Object.fromEntries(
    text.split(',').map((label) => {
      const [key, value, ...more] = label.split('=');
      if (!key || value === undefined || more.length > 0)
        throw new UsageError(
          `ctl trigger create: --node-selector takes KEY=VALUE with commas between, not ${JSON.stringify(text)}`,
        );
      return [key, value];
    }),
  );
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UsageError(`ctl trigger create: --input is not JSON: ${(error as Error).message}`);
  }
}
