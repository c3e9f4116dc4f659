/** The Function that flags describe, and its changes in an update. */
import type { JsonObject } from '../../../apimachinery/equality.ts';
import { UsageError } from '../../../base/usage-error.ts';
import { type Flags, under } from '../../../cli/flags/flags.ts';
import { readSource, type Source } from '../../../cli/manifests/source-files.ts';

export const functionFlags = under('The function', {
  from: { type: 'string', hint: 'PATH', about: 'program: a directory or a zip archive' },
  runtime: {
    type: 'string',
    hint: 'python|nodejs',
    about: 'language of the program',
    usual: 'detected from its files',
  },
  handler: {
    type: 'string',
    hint: 'MODULE.FUNCTION',
    about: 'handler to call',
    usual: 'main.handler',
  },
  image: { type: 'string', hint: 'IMAGE', about: 'image with an HTTP server, instead of a program' },
  env: {
    type: 'string',
    short: 'e',
    hint: 'NAME=VALUE',
    about: 'environment variable; may be repeated',
  },
  timeout: { type: 'string', hint: 'SECONDS', about: 'timeout of a call, in seconds', usual: '30' },
  concurrency: {
    type: 'string',
    hint: 'CALLS',
    about: 'maximum number of concurrent calls per instance',
    usual: '10',
  },
  'min-scale': {
    type: 'string',
    hint: 'INSTANCES',
    about: 'minimum number of instances',
    usual: '0',
  },
  'max-scale': {
    type: 'string',
    hint: 'INSTANCES',
    about: 'maximum number of instances',
    usual: '10',
  },
  'idle-seconds': {
    type: 'string',
    hint: 'SECONDS',
    about: 'seconds without calls after which the last instance is removed',
    usual: '60',
  },
  public: { type: 'boolean', about: 'allow calls without authentication' },
});

const numbers = {
  timeout: 'timeoutSeconds',
  concurrency: 'concurrency',
  'min-scale': 'minScale',
  'max-scale': 'maxScale',
  'idle-seconds': 'idleSeconds',
} as const;

/** Returns the fields of the spec that the flags contain; other fields are left out. */
export async function specOf(flags: Flags): Promise<JsonObject> {
  const [from, image] = [flags.text('from'), flags.text('image')];
  if (from !== undefined && image !== undefined)
    throw new UsageError('ctl function: only one of --from and --image is allowed');
  const source = from === undefined ? undefined : await readSource(from);
  const runtime = flags.oneOf('runtime', ['python', 'nodejs'] as const) ?? (source && runtimeOf(source));
  if (source && runtime === undefined)
    throw new Error(`--from: there is no program in ${from}: no main.py (Python) and no main.js (Node.js)`);
  const env = flags.texts('env').map(variable);
  const scale = Object.entries(numbers).map(([flag, field]) => [field, flags.whole(flag)] as const);
  return definedIn({
    runtime,
    handler: flags.text('handler'),
    ...(source && filesOf(source)),
    image,
    env: env.length > 0 ? env : undefined,
    public: flags.given('public') ? flags.on('public') : undefined,
    ...Object.fromEntries(scale),
  });
}

/** Returns the fields that have a value, in order. */
const definedIn = (fields: Readonly<JsonObject>): JsonObject =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );

const filesOf = ({ files, binaryFiles }: Source) => ({
  files,
  ...(Object.keys(binaryFiles).length > 0 && { binaryFiles }),
});

/** Returns the runtime by the extensions of the files; undefined if they do not determine it. */
function runtimeOf({ files }: Source): 'python' | 'nodejs' | undefined {
  const names = Object.keys(files);
  const isPython = names.some((name) => name.endsWith('.py'));
  const isNode = names.some((name) => /\.[cm]?js$/.test(name));
  if (isPython && isNode)
    throw new UsageError('ctl function: --from has Python and JavaScript; choose one by --runtime');
  if (isPython) return 'python';
  return isNode ? 'nodejs' : undefined;
}

function variable(text: string): { name: string; value: string } {
  const at = text.indexOf('=');
  if (at < 1) throw new UsageError(`ctl function: --env takes NAME=VALUE, not ${JSON.stringify(text)}`);
  return { name: text.slice(0, at), value: text.slice(at + 1) };
}

/**
 * Returns the changed spec. A new image replaces the whole program. A new program replaces the files or the
 * image, and keeps the runtime and the handler.
 */
export function changed(spec: JsonObject, changes: JsonObject): JsonObject {
  const { files, binaryFiles, image, runtime, handler, ...rest } = spec;
  const own = image === undefined ? { runtime, handler, files, binaryFiles } : { image };
  const kept = changes.image !== undefined ? {} : changes.files !== undefined ? { runtime, handler } : own;
  return JSON.parse(JSON.stringify({ ...rest, ...kept, ...changes })) as JsonObject;
}
