/** An agent has ended; the command ends with the same exit code. */
export class AgentExit extends Error {
  override readonly name = 'AgentExit';
  readonly code: number;

  constructor(code: number) {
    super(`the agent ended with ${code}`);
    this.code = code;
  }
}
