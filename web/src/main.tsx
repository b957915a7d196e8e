/** The page begins here. */
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/layout.css";
import "./styles/list.css";
import "./styles/terminal.css";
import "./styles/views.css";
import "./styles/task.css";
import { render } from "preact";
import { App } from "./app.js";
import { startNotifying } from "./state/notify.js";
import { start } from "./state/start.js";

render(<App />, document.getElementById("app") as HTMLElement);
startNotifying();
void start();
