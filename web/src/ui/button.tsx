/** A button with a drawing, a word, or both; what has no word on it has a name for who cannot see the drawing. */
import type { ComponentChildren } from "preact";
import { Icon, type IconName } from "./icon.js";

export interface ButtonProps {
	icon?: IconName;
	/** Its name when there is no text, and its tooltip. */
	label?: string;
	kind?: "primary" | "danger" | "bare";
	pressed?: boolean;
	disabled?: boolean;
	submit?: boolean;
	onClick?: (event: MouseEvent) => void;
	children?: ComponentChildren;
}

export const Button = ({ icon, label, kind, pressed, disabled, submit, onClick, children }: ButtonProps) => (
	<button
		type={submit ? "submit" : "button"}
		class={["button", kind, children === undefined && "icon"].filter(Boolean).join(" ")}
		aria-label={children === undefined ? label : undefined}
		title={label}
		aria-pressed={pressed}
		disabled={disabled}
		onClick={onClick}
	>
		{icon && <Icon name={icon} />}
		{children}
	</button>
);
