/** The files of a folder, for `ctl proxy --www`. */
import { open, readdir, stat } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { extname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { refuse } from './forward.ts';

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.gif': 'image/gif',
  '.htm': 'text/html; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/vnd.microsoft.icon',
  '.jpeg': 'image/jpeg',
  '.jpg': 'image/jpeg',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.mjs': 'text/javascript; charset=utf-8',
  '.pdf': 'application/pdf',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.wasm': 'application/wasm',
  '.webp': 'image/webp',
  '.woff2': 'font/woff2',
  '.xml': 'text/xml; charset=utf-8',
};

/**
 * Answers with a file, with index.html of a folder, or with a list of a folder. `path` is relative to the
 * folder, decoded, and without `..`.
 */
export async function serveFile(
  folder: string,
  path: string,
  { method }: IncomingMessage,
  answer: ServerResponse,
): Promise<void> {
  if (method !== 'GET' && method !== 'HEAD') return refuse(answer, 405, 'Method Not Allowed');
  if (path.includes('\0')) return refuse(answer, 404, '404 page not found');
  const place = join(folder, path);
  const found = await stat(place).catch(() => undefined);
  if (found?.isFile() && !path.endsWith('/')) return sendFile(place, found.size, method, answer);
  if (!found?.isDirectory()) return refuse(answer, 404, '404 page not found');
  if (path !== '' && !path.endsWith('/'))
    return refuse(answer, 301, 'Moved Permanently', {
      location: `${encodeURIComponent(path.slice(path.lastIndexOf('/') + 1))}/`,
    });
  const index = join(place, 'index.html');
  const indexFile = await stat(index).catch(() => undefined);
  if (indexFile?.isFile()) return sendFile(index, indexFile.size, method, answer);
  return sendList(place, method, answer);
}

async function sendFile(file: string, size: number, method: string, answer: ServerResponse): Promise<void> {
  const headers = {
    'content-type': types[extname(file).toLowerCase()] ?? 'application/octet-stream',
    'x-content-type-options': 'nosniff',
  };
  if (method === 'HEAD') return void answer.writeHead(200, { ...headers, 'content-length': size }).end();
  const opened = await open(file).catch(() => undefined);
  if (!opened) return refuse(answer, 403, '403 Forbidden');
  answer.writeHead(200, headers);
  // A client that leaves, or a disk that fails, ends the connection.
  await pipeline(opened.createReadStream(), answer).catch(() => undefined);
}

async function sendList(folder: string, method: string, answer: ServerResponse): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const names = entries.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name)).sort();
  const lines = names.map((name) => `<a href="./${linkOf(name)}">${escaped(name)}</a>\n`);
  answer.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
  answer.end(method === 'HEAD' ? '' : `<!doctype html>\n<pre>\n${lines.join('')}</pre>\n`);
}

const linkOf = (name: string) => encodeURIComponent(name).replaceAll('%2F', '/');

const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&#34;');
