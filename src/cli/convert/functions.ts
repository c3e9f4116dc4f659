/**
 * Functions whose program is a file or folder of this machine. Pure: the contents of the files are passed in.
 */
import type { JsonObject } from '../../apimachinery/equality.ts';
import type { Fields } from './fields.ts';

/** Text files and base64 files by path, as in a Function. */
export interface Source {
  readonly files: Readonly<Record<string, string>>;
  readonly binaryFiles: Readonly<Record<string, string>>;
}

/** Returns the contents of a path in a manifest. Throws if they cannot be read. */
export type Read = (path: string) => Source;

/** The fields that contain paths. */
export const pathFields = [
  'functionPath',
  'requirementPath',
  'userUploadFilePath',
  'function',
  'requirements',
  'hostPath',
];

/**
 * Returns the spec of a Function. Throws if the program is not found, or has no function that could be
 * called.
 */
export function fn(kind: string, name: string, fields: Fields, read: Read): JsonObject {
  if (kind === 'activity') return activity(fields, read);
  if (fields.has('userUploadFilePath')) return ofFolder(fields, read);
  if (fields.has('functionFile') || fields.has('command')) return ofCommand(fields, read);
  if (fields.has('functionPath')) return ofFile(name, fields, read);
  throw new Error('functionPath, userUploadFilePath or command: expected the program of the function');
}

/** Scales by the number of calls in a window: one instance for each `target` calls. */
const byRequests = (target: number, windowSeconds: number): JsonObject => ({
  metric: 'Requests',
  target,
  windowSeconds,
});

/** Converts a file with `def NAME(event, context)`. */
function ofFile(name: string, fields: Fields, read: Read): JsonObject {
  const [file, source] = programIn(read(fields.text('functionPath') ?? ''), name);
  return {
    runtime: 'python',
    handler: `${moduleOf(file)}.${handlerIn(source.files[file] ?? '', name)}`,
    ...withRequirements(source, requirementsOf(fields, read, 'requirementPath')),
    ...byRequests(5, 30),
  };
}

/** Converts a folder with `main(params)` in func.py. */
function ofFolder(fields: Fields, read: Read): JsonObject {
  const source = read(fields.text('userUploadFilePath') ?? '');
  if (source.files['func.py'] === undefined) throw new Error('userUploadFilePath: there is no func.py in it');
  return { runtime: 'python', handler: 'func.main', ...withRequirements(source), ...byRequests(100, 60) };
}

/** Converts `handler(env)`, which receives the query and the body in one object. */
function activity(fields: Fields, read: Read): JsonObject {
  const [file, source] = programIn(read(fields.text('function') ?? ''), 'handler');
  fields.drop('version', 'each change of the program creates a version');
  const program = [
    '"""Calls handler(env): the query is env.uri, the body env.body."""',
    'from types import SimpleNamespace',
    '',
    `from ${moduleOf(file)} import handler as called`,
    '',
    '',
    'def handler(event, context):',
    '    return called(SimpleNamespace(uri=context.query, body=event))',
    '',
  ].join('\n');
  const files = { ...source.files, [`${adapter}.py`]: program };
  return {
    runtime: 'python',
    handler: `${adapter}.handler`,
    ...withRequirements({ ...source, files }, requirementsOf(fields, read, 'requirements')),
    ...byRequests(5, 60),
  };
}

/**
 * Converts a command that is started for each call with the input as its last argument, and whose output is
 * the answer.
 */
function ofCommand(fields: Fields, read: Read): JsonObject {
  const source = read(fields.text('hostPath') ?? '');
  const [file, requirements] = [fields.text('functionFile'), fields.text('requirements')];
  const command = fields.text('command') ?? `python3 ${file}`;
  fields.drop('image', 'the program runs in the image of the runtime python');
  if (file !== undefined && source.files[baseName(file)] === undefined)
    throw new Error(`functionFile: there is no ${baseName(file)} in hostPath`);
  const program = [
    '"""Starts the command with the event as its last argument; what it prints is the result."""',
    'import json',
    'import os',
    'import shlex',
    'import subprocess',
    'import sys',
    '',
    `command = shlex.split(${JSON.stringify(command)})`,
    'if command[0] in ("python", "python3"):',
    '    command[0] = sys.executable',
    '',
    '',
    'def handler(event, context):',
    '    argument = event if isinstance(event, str) else json.dumps(event)',
    '    place = os.path.dirname(os.path.abspath(__file__))',
    '    ended = subprocess.run([*command, argument], cwd=place, stdout=subprocess.PIPE, text=True, check=True)',
    '    try:',
    '        return json.loads(ended.stdout)',
    '    except ValueError:',
    '        return ended.stdout.rstrip("\\n")',
    '',
  ].join('\n');
  const files = { ...source.files, [`${adapter}.py`]: program };
  const listed = requirements === undefined ? undefined : source.files[baseName(requirements)];
  return {
    runtime: 'python',
    handler: `${adapter}.handler`,
    ...withRequirements({ ...source, files }, listed),
    concurrency: 10,
    idleSeconds: 30,
  };
}

/** Module that adapts a function of another form to the runtime. */
const adapter = 'converted_call';

/** Returns the file of a path, or the program of a folder: the only one, or the one with this name. */
function programIn(source: Source, name: string): [string, Source] {
  const programs = Object.keys(source.files).filter((file) => file.endsWith('.py'));
  const wanted = [`${name}.py`, `${name.replaceAll('-', '_')}.py`, 'main.py'];
  const file = programs.length === 1 ? programs[0] : wanted.find((one) => programs.includes(one));
  if (file === undefined) throw new Error(`cannot tell which file is the program: ${programs}`);
  return [file, source];
}

/** Returns the function of that name, or the only one with an event and a context as parameters. */
function handlerIn(text: string, name: string): string {
  const defined = [...text.matchAll(/^(?:async )?def ([A-Za-z_]\w*)\(([^)]*)\)/gm)].map(
    ([, found = '', parameters = '']) => ({ found, count: parameters.split(',').length }),
  );
  const wanted = [name, name.replaceAll('-', '_')];
  const named = defined.find(({ found }) => wanted.includes(found));
  const withTwo = defined.filter(({ count }) => count === 2);
  const one = named ?? (withTwo.length === 1 ? withTwo[0] : undefined);
  if (!one) throw new Error(`functionPath: there is no def ${wanted.at(-1)}(event, context) in it`);
  return one.found;
}

const moduleOf = (file: string) => file.replace(/\.py$/, '').replaceAll('/', '.');

export const baseName = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

function requirementsOf(fields: Fields, read: Read, field: string): string | undefined {
  const path = fields.text(field);
  return path === undefined || path === '' ? undefined : Object.values(read(path).files).join('\n');
}

/** Returns the files, with the list of libraries as requirements.txt, which is pip's name for it. */
function withRequirements({ files, binaryFiles }: Source, listed?: string): JsonObject {
  const own = files['requirements.txt'] ?? files['requirement.txt'];
  const list = listed ?? own;
  const { 'requirement.txt': _, ...rest } = files;
  return {
    files: { ...rest, ...(list !== undefined && { 'requirements.txt': list }) },
    ...(Object.keys(binaryFiles).length > 0 && { binaryFiles }),
  };
}
