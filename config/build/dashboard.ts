/**
 * The dashboard's app for browsers: index.html and the assets that it names, whose names contain a hash of
 * their content. Every file has a copy that is compressed by brotli beside it.
 */
import { createHash } from 'node:crypto';
import { glob, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { build } from 'esbuild';
import { writeBrotli } from './compress.ts';
import { replaceFile } from './replace-file.ts';

/** Folder of the app's source, from the root of the repository. */
const source = 'src/dashboard/app';

export interface DashboardFile {
  /** Path below the folder of the app, such as `assets/main-ABCD1234.js`. */
  readonly path: string;
  readonly bytes: number;
  readonly compressedBytes: number;
}

/**
 * Writes the app to `outdir`, removes the files of earlier builds there, and returns its files. Throws
 * esbuild's errors, with the file and line.
 */
export async function makeDashboard(root: string, outdir: string): Promise<readonly DashboardFile[]> {
  const result = await build({
    absWorkingDir: root,
    entryPoints: { main: `${source}/main.tsx` },
    outdir: join(outdir, 'assets'),
    publicPath: '/dashboard/assets',
    entryNames: '[name]-[hash]',
    chunkNames: 'part-[hash]',
    assetNames: '[name]-[hash]',
    loader: { '.svg': 'file' },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2023',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    minify: true,
    legalComments: 'none',
    tsconfig: join(root, source, 'tsconfig.json'),
    logLevel: 'warning',
    write: false,
  });
  const outputs = result.outputFiles.map(({ path, contents }) => ({ path: basename(path), contents }));
  const named = (pattern: RegExp) => {
    const found = outputs.find(({ path }) => pattern.test(path));
    if (!found) throw new Error(`the dashboard has no file ${pattern.source}`);
    return `/dashboard/assets/${found.path}`;
  };
  const template = await readFile(join(root, source, 'index.html'), 'utf8');
  const page = template
    .replace('{{script}}', named(/^main-.*\.js$/))
    .replace('{{style}}', named(/^main-.*\.css$/));
  const icon = await readFile(join(root, source, 'icon.svg'));
  const iconPath = `icon-${createHash('sha256').update(icon).digest('hex').slice(0, 8)}.svg`;
  const files = [
    ...outputs.map(({ path, contents }) => ({ path: `assets/${path}`, contents })),
    { path: `assets/${iconPath}`, contents: icon },
    { path: 'index.html', contents: Buffer.from(page.replace('{{icon}}', `/dashboard/assets/${iconPath}`)) },
  ];
  const written = await Promise.all(
    files.map(({ path, contents }) => writeCompressed(outdir, path, contents)),
  );
  const current = new Set(written.flatMap(({ path }) => [path, `${path}.br`]));
  for await (const path of glob('**/*.*', { cwd: outdir }))
    if (!current.has(path) && !path.endsWith('.new')) await rm(join(outdir, path), { force: true });
  return written;
}

async function writeCompressed(outdir: string, path: string, contents: Uint8Array): Promise<DashboardFile> {
  const target = join(outdir, path);
  await mkdir(dirname(target), { recursive: true });
  const [compressedBytes] = await Promise.all([
    writeBrotli(target, contents),
    replaceFile(target, (draft) => writeFile(draft, contents)),
  ]);
  return { path, bytes: contents.length, compressedBytes };
}
