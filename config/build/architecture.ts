/** The architectures for which minik8s can be built, and their names in other programs. */

/** Node's name of an architecture. */
export type Architecture = 'x64' | 'arm64';

interface Names {
  /** Name in Docker, in Go and in Debian. */
  readonly docker: 'amd64' | 'arm64';
  /** Prefix of GNU's compiler and tools for the architecture, on a machine of another one. */
  readonly gnu: string;
  /** Program that runs programs of the architecture on a machine of another one, with their libraries. */
  readonly emulator: readonly string[];
  /** Oldest processors on which Go's code must run; overrides the environment of the build. */
  readonly go: Readonly<Record<string, string>>;
}

export const architectures: Readonly<Record<Architecture, Names>> = {
  x64: {
    docker: 'amd64',
    gnu: 'x86_64-linux-gnu-',
    emulator: ['qemu-x86_64-static', '-L', '/usr/x86_64-linux-gnu'],
    go: { GOAMD64: 'v1' },
  },
  arm64: {
    docker: 'arm64',
    gnu: 'aarch64-linux-gnu-',
    emulator: ['qemu-aarch64-static', '-L', '/usr/aarch64-linux-gnu'],
    go: { GOARM64: 'v8.0' },
  },
};

/** Returns the architecture of that name. Throws if minik8s cannot be built for it. */
export function architectureOf(name: string): Architecture {
  if (name === 'x64' || name === 'arm64') return name;
  throw new Error(`cannot build for ${name}: only x64 and arm64 are known`);
}

/** Returns the name of a GNU program, such as gcc, that makes or reads programs of the architecture. */
export const gnuProgram = (arch: Architecture, name: string, host: string = process.arch): string =>
  arch === host ? name : `${architectures[arch].gnu}${name}`;

/**
 * Returns the words before a command line that run a program of the architecture here; empty on a machine of
 * that architecture.
 */
export const emulatorFor = (arch: Architecture, host: string = process.arch): readonly string[] =>
  arch === host ? [] : architectures[arch].emulator;
