/** Functions of both runtimes, and their environment. */
import type { Runtime } from '../../../../fixtures/function-program.ts';

export const sources: Readonly<Record<Runtime, Readonly<Record<string, string>>>> = {
  python: {
    'main.py': `
import asyncio, os, sys, threading, time
from lib import texts

class Odd(Exception):
    pass

held = threading.Event()
count = 0

def do(event, context):
    global count
    count += 1
    what = event.get("do") if isinstance(event, dict) else None
    if what == "echo": return event
    if what == "count": return count
    if what == "none": return None
    if what == "text": return texts.unicode
    if what == "context":
        return {"id": context.call_id, "name": context.function_name, "namespace": context.namespace, "version": context.version,
            "method": context.method, "path": context.path, "query": context.query, "header": context.headers.get("x-some"),
            "left": context.get_remaining_time_in_millis()}
    if what == "throw": raise Odd("it went \\u2026 wrong\\r\\nHost: x")
    if what == "throw much": raise Odd("x" * 10_000_000)
    if what == "no json": return {1, 2}
    if what == "circle":
        a = []
        a.append(a)
        return a
    if what == "big": return "x" * event["size"]
    if what == "exit": sys.exit(3)
    if what == "print":
        for _ in range(event["lines"]): print("x" * 1023)
        return "printed"
    if what == "told": return event["result"]
    if what == "bytes": return bytes([0, 255, 10])
    if what == "sleep": time.sleep(event["seconds"]); return "slept"
    if what == "spin":
        while True: pass
    if what == "hold": held.wait(); return "held"
    if what == "release": held.set(); return "released"
    return event

async def later(event, context):
    await asyncio.sleep(0)
    if event.get("throw"): raise Odd("later")
    if event.get("sleep"): await asyncio.sleep(event["sleep"])
    return {"later": event}

def one(event): return {"one": event}
def none(): return "none"
class Handler:
    def __call__(self, event, context): return {"object": event}
thing = Handler()
`,
    'lib/__init__.py': '',
    'lib/texts.py': 'unicode = "héllo 世界 🎉"\n',
    'broken.py': 'import no_such_module\n',
    'pkg/__init__.py': '',
    'pkg/deep.py': 'def run(event): return "deep"\n',
  },
  nodejs: {
    'main.mjs': `
import { unicode } from './lib/texts.mjs';
class Odd extends Error { name = 'Odd'; }
let count = 0;
let release;
const held = new Promise((resolve) => { release = resolve; });
export function handler(event, context) {
  count++;
  switch (event?.do) {
    case 'echo': return event;
    case 'count': return count;
    case 'none': return undefined;
    case 'text': return unicode;
    case 'context': return { id: context.callId, name: context.functionName, namespace: context.namespace, version: context.version,
      method: context.method, path: context.path, query: context.query, header: context.headers['x-some'],
      left: context.getRemainingTimeInMillis() };
    case 'throw': throw new Odd('it went \\u2026 wrong\\r\\nHost: x');
    case 'throw much': throw new Odd('x'.repeat(10_000_000));
    case 'no json': return 1n;
    case 'circle': { const a = []; a.push(a); return a; }
    case 'big': return 'x'.repeat(event.size);
    case 'exit': process.exit(3);
    case 'print': for (let i = 0; i < event.lines; i++) console.log('x'.repeat(1023)); return 'printed';
    case 'told': return event.result;
    case 'bytes': return Buffer.from([0, 255, 10]);
    case 'sleep': return new Promise((resolve) => setTimeout(() => resolve('slept'), event.seconds * 1000));
    case 'spin': for (;;);
    case 'hold': return held.then(() => 'held');
    case 'release': release(); return 'released';
    default: return event;
  }
}
export { handler as do };
export async function later(event) {
  await null;
  if (event.throw) throw new Odd('later');
  if (event.sleep) await new Promise((resolve) => setTimeout(resolve, event.sleep * 1000));
  return { later: event };
}
export const one = (event) => ({ one: event });
export const none = () => 'none';
export default { thing: (event) => ({ object: event }) };
`,
    'lib/texts.mjs': 'export const unicode = "héllo 世界 🎉";\n',
    'broken.mjs': "import 'no-such-module';\n",
    'common.cjs': "exports.run = () => 'common';\n",
    'only.cjs': "module.exports = () => 'only';\n",
    'pkg/deep.mjs': "export const run = () => 'deep';\n",
  },
};

export const env = {
  FUNCTION_NAME: 'f',
  FUNCTION_NAMESPACE: 'n',
  FUNCTION_VERSION: 'f-1',
  FUNCTION_HANDLER: 'main.do',
};
