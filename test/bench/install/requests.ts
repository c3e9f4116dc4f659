/** A client on a host that requests one page again and again, each time over a new connection. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Host } from '../../e2e/harness/host.ts';

/**
 * Requests the page every 5 milliseconds until its input ends, and prints the numbers of successful and
 * failed requests.
 */
const program = (url: string) => `
  const http = require('node:http');
  let [sent, failed, going] = [0, 0, true];
  const request = () => new Promise((resolve) => {
    const end = (ok) => { sent++; if (!ok) failed++; resolve(); };
    const asked = http.get(${JSON.stringify(url)}, { agent: false, timeout: 2000 }, (answer) => {
      answer.resume().on('end', () => end(answer.statusCode === 200)).on('error', () => end(false));
    });
    asked.on('timeout', () => asked.destroy(new Error('timeout'))).on('error', () => end(false));
  });
  process.stdin.resume().on('end', () => { going = false; });
  (async () => {
    while (going) {
      await request();
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    console.log(JSON.stringify({ sent, failed }));
    process.exit();
  })();
`;

export interface Requests {
  /** Ends the requests and resolves to their numbers. */
  end(): Promise<{ readonly sent: number; readonly failed: number }>;
}

export function startRequests(host: Host, url: string): Requests {
  const [file, args] = host.command(process.execPath, ['-e', program(url)]);
  const child = spawn(file, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.on('data', (part: Buffer) => {
    output += part;
  });
  return {
    async end() {
      const ended = once(child, 'close');
      child.stdin.end();
      await ended;
      return JSON.parse(output);
    },
  };
}
