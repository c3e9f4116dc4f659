/** Frames between a test and the agent of a virtual machine, as guest/agent.c reads and writes them. */

/** Types of frames to the agent. */
export const toAgent = { run: 1, input: 2, kill: 3 } as const;
/** Types of frames from the agent. */
export const fromAgent = { hello: 1, stdout: 2, stderr: 3, exit: 4, taken: 5 } as const;

interface Frame {
  readonly channel: number;
  readonly type: number;
  readonly payload: Buffer;
}

const headerLength = 12;

export function writeFrame(channel: number, type: number, payload: Uint8Array): Buffer {
  const header = Buffer.alloc(headerLength);
  header.writeUInt32LE(channel, 0);
  header.writeUInt32LE(type, 4);
  header.writeUInt32LE(payload.length, 8);
  return Buffer.concat([header, payload]);
}

/** Returns the whole frames at the beginning of `bytes`, and the bytes behind them. */
export function readFrames(bytes: Buffer): { readonly frames: readonly Frame[]; readonly rest: Buffer } {
  const frames: Frame[] = [];
  let at = 0;
  while (bytes.length - at >= headerLength) {
    const end = at + headerLength + bytes.readUInt32LE(at + 8);
    if (end > bytes.length) break;
    const payload = bytes.subarray(at + headerLength, end);
    frames.push({ channel: bytes.readUInt32LE(at), type: bytes.readUInt32LE(at + 4), payload });
    at = end;
  }
  return { frames, rest: bytes.subarray(at) };
}

/** Returns the exit status of a `wait` status as a shell has it: 128 and more for a signal. */
export const exitStatus = (waited: number) => ((waited & 127) === 0 ? waited >> 8 : 128 + (waited & 127));
