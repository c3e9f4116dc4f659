/** Files of a job's work folder: the job's own files and the client's files. Pure. */
import { batchScript, buildScript, controlFolder, jobProgram, UnusableSpec } from './batch-script.ts';
import type { SourceFile } from './job-store.ts';
import type { SlurmJob } from './slurm-job.ts';

/** Returns all files to write, with paths below the work folder. Throws UnusableSpec. */
export function filesToUpload(job: SlurmJob, files: readonly SourceFile[]): readonly SourceFile[] {
  const script = scriptOf(job, files);
  const own = (name: string, text: string): SourceFile => ({
    path: `${controlFolder}/${name}`,
    data: Buffer.from(text),
  });
  return [
    ...files,
    own('job.slurm', batchScript(job, script)),
    own('script', jobProgram(job.spec, script)),
    own('build.sh', buildScript(job.spec)),
  ];
}

/** Returns the folders of the files, each once. */
export const foldersOf = (files: readonly SourceFile[]): readonly string[] => [
  ...new Set(files.flatMap(({ path }) => (path.includes('/') ? [path.slice(0, path.lastIndexOf('/'))] : []))),
];

/** Throws UnusableSpec unless the path is below the work folder and outside of the client's own folder. */
export function requireBelow(path: string): void {
  if (path.startsWith('/') || path.split('/').some((part) => part === '..' || part === '.' || part === ''))
    throw new UnusableSpec(`files: ${JSON.stringify(path)} is not below the work folder`);
  if (path === controlFolder || path.startsWith(`${controlFolder}/`))
    throw new UnusableSpec(`files: ${JSON.stringify(path)} is in the client's own folder`);
}

function scriptOf({ spec }: SlurmJob, files: readonly SourceFile[]): string | undefined {
  if (spec.scriptFile === undefined) return spec.script;
  const file = files.find(({ path }) => path === spec.scriptFile);
  if (file === undefined) throw new UnusableSpec(`scriptFile: ${spec.scriptFile} is not among the files`);
  return Buffer.from(file.data).toString();
}

/** Returns true for a script, which begins with #! like the job's own, or an ELF program. */
export const isProgram = (data: Uint8Array): boolean => {
  const [first, second, third, fourth] = data;
  return (
    (first === 0x23 && second === 0x21) ||
    (first === 0x7f && second === 0x45 && third === 0x4c && fourth === 0x46)
  );
};
