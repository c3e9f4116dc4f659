/** Arguments of the program kustomize, and the meaning of its end. Pure. */

/** Release of kustomize whose library config/kustomize contains. */
export const kustomizeVersion = 'v5.5.0';

export interface BuildRequest {
  /** Folder with a kustomization, or the address of a git repository. */
  readonly directory: string;
  /** Allows files from outside the folder; default: false. */
  readonly loadsOutside?: boolean;
  /** Order of the objects; default: that of the kustomization. */
  readonly order?: 'legacy' | 'given' | undefined;
  /** Adds the label app.kubernetes.io/managed-by to each object; default: false. */
  readonly managedBy?: boolean;
  /** File, or existing folder, to which the objects are written. */
  readonly output?: string | undefined;
}

export interface BuildLimits {
  readonly memoryBytes: number;
  readonly seconds: number;
  readonly outputBytes: number;
  readonly warningBytes: number;
}

export const buildLimits: BuildLimits = {
  /** Address space of the program. */
  memoryBytes: 2 * 2 ** 30,
  /** Duration of a build, with everything that is fetched for it. */
  seconds: 300,
  outputBytes: 256 * 2 ** 20,
  warningBytes: 2 ** 20,
};

/** Returns the arguments of the program; its flags end before the directory, which may begin with a dash. */
export function programArguments(request: BuildRequest, limits = buildLimits): string[] {
  const { directory, loadsOutside, order, managedBy, output } = request;
  return [
    `-memory=${limits.memoryBytes}`,
    `-limit=${limits.seconds}s`,
    ...(loadsOutside ? ['-unrestricted'] : []),
    ...(order ? [`-${order}-order`] : []),
    ...(managedBy ? ['-managed-by'] : []),
    ...(output === undefined ? [] : [`-output=${output}`]),
    '--',
    directory,
  ];
}

export interface ProgramEnd {
  /** Exit status; null if a signal ended the program. */
  readonly status: number | null;
  readonly killedBy: string | null;
  /** True if the program was ended because of the size of its output. */
  readonly isTooLong: boolean;
  readonly output: string;
  readonly errors: string;
}

/** Returns what the library has printed beside its result, such as warnings about deprecated fields. */
export const warningsOf = ({ status, errors }: ProgramEnd): string =>
  status === 0 || status === 1 ? errors : '';

/** Returns the objects as YAML. Throws the error of the library in its words, or a crash in one line. */
export function builtText(end: ProgramEnd): string {
  if (end.isTooLong) throw new Error(`the objects have more than ${buildLimits.outputBytes / 2 ** 20} MiB`);
  if (end.status === 0) return end.output;
  if (end.status === 1) throw new Error(end.output);
  if (/out of memory|cannot allocate memory/.test(end.errors))
    throw new Error(`the kustomization needs more than ${buildLimits.memoryBytes / 2 ** 30} GiB of memory`);
  const [line] = end.errors.trim().split('\n', 1);
  const how = end.killedBy === null ? `ended with status ${end.status}` : `was ended by ${end.killedBy}`;
  throw new Error(`kustomize ${how}${line ? `: ${line}` : ''}`);
}
