/** Values of Secrets, which are encoded as Base64. Pure. */

/** Returns the text of a value; a value that is not UTF-8 stays Base64. */
export function decodedSecret(base64: string): string {
  try {
    const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return base64;
  }
}
